// Solves a room's challenge for the waiting page, and shows what happens. Loaded when a room asks.
import { solve as work } from "/static/work.js";

/** @import { Challenge } from "/static/work.js" */

/**
 * @typedef {object} Widget  what the scripts of Turnstile, hCaptcha and reCAPTCHA offer
 * @property {(element: HTMLElement, options: object) => unknown} render
 */

const NAME = "waitroom-work";
const LOAD_MS = 15_000;
/** @param {string} name @returns {?HTMLElement} */
const part = (name) => document.querySelector(`[data-x=${name}]`);

/**
 * Return what a join sends: the solution of a proof of work, or a widget's token.
 * @param {Challenge & {script?: string, site_key?: string, action?: string}} challenge
 * @returns {Promise<{solution: string} | {token: string}>}
 */
export async function solve(challenge) {
  const box = part("checking");
  // The room has just begun to ask: the page that we have neither has the words nor may it load a widget.
  if (!box) return reload();
  box.hidden = false;
  const live = part("live"), title = box.querySelector("b");
  if (live && title) live.textContent = title.textContent; // the only region that is read aloud
  part("joining")?.setAttribute("hidden", "");
  try {
    if (challenge.kind === "work") return { solution: await solveWork(challenge) };
    return { token: await widget(challenge) };
  } finally {
    box.hidden = true;
    part("joining")?.removeAttribute("hidden");
  }
}

/** @returns {Promise<never>} */
function reload() {
  setTimeout(() => location.reload(), 1_000 + Math.random() * 2_000);
  return new Promise(() => {});
}

/** @param {Challenge} challenge @returns {Promise<string>} */
function solveWork(challenge) {
  const bar = /** @type {HTMLProgressElement} */ (part("check_bar")), left = /** @type {HTMLElement} */ (part("check_left"));
  if (!globalThis.crypto?.subtle) return ripen(); // plain http: only the server can let time pass
  const began = performance.now();
  bar.hidden = left.hidden = false;
  /** @param {number} share */
  const told = (share) => {
    bar.value = share;
    // Half of the range, on average; whoever is unlucky is told the rest.
    const spent = performance.now() - began, all = spent / share;
    const seconds = Math.max(1, Math.ceil((share < 0.5 ? all / 2 : all) - spent) / 1000);
    left.textContent = (left.dataset.about ?? "").replace("{n}", String(Math.ceil(seconds)));
  };
  return inWorker(challenge, told).catch(() => work(challenge, told)); // the page stays usable: the crypto is not in its thread
}

/** @param {Challenge} challenge @param {(share: number) => void} told @returns {Promise<string>} */
function inWorker(challenge, told) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(trusted("/static/work.js"), { type: "module", name: NAME });
    const end = (/** @type {() => void} */ act) => { worker.terminate(); act(); };
    worker.onerror = () => end(() => reject(Error("the worker did not start")));
    worker.onmessage = ({ data }) => {
      if (data.share) told(data.share);
      else end(() => (data.solution ? resolve(data.solution) : reject(Error(data.error))));
    };
    worker.postMessage(challenge);
  });
}

/** Let the page ripen, as browsers without a script do. @returns {Promise<never>} */
function ripen() {
  /** @type {?HTMLFormElement} */
  const form = document.querySelector("form[action$='/join']");
  form?.submit();
  return new Promise(() => {});
}

/** @param {{script?: string, site_key?: string, action?: string}} challenge @returns {Promise<string>} */
async function widget({ script, site_key: key, action }) {
  const box = /** @type {HTMLElement} */ (part("widget"));
  if (!script) throw Error("the service cannot be asked");
  const api = await loaded(script);
  box.hidden = false;
  return new Promise((resolve, reject) => {
    box.replaceChildren(document.createElement("div"));
    const failed = () => reject(Error("the widget failed"));
    api.render(/** @type {HTMLElement} */ (box.firstChild), { sitekey: key, action, callback: resolve, "error-callback": failed, "expired-callback": failed });
  });
}

/** @param {string} url @returns {Promise<Widget>} */
async function loaded(url) {
  const there = () => {
    const known = /** @type {any} */ (window);
    return [known.turnstile, known.hcaptcha, known.grecaptcha].find((api) => api?.render);
  };
  if (!there()) {
    const tag = document.createElement("script");
    tag.nonce = /** @type {HTMLScriptElement} */ (document.querySelector("script[nonce]")).nonce;
    tag.src = url;
    document.head.append(tag);
  }
  for (const until = performance.now() + LOAD_MS; performance.now() < until; ) {
    if (there()) return there();
    await new Promise((done) => setTimeout(done, 50));
  }
  throw Error("the widget's script did not load");
}

/** @param {string} url @returns {string}  a URL that the page's policy trusts */
function trusted(url) {
  const types = /** @type {any} */ (window).trustedTypes;
  return types ? types.createPolicy(NAME, { createScriptURL: (/** @type {string} */ text) => text }).createScriptURL(url) : url;
}
