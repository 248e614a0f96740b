// Sound and Web Push for the waiting page: loaded once a reader wants them.

/** @typedef {{room: string, lang: string, push?: string}} Page */

/**
 * Apply the reader's decision about notifications, and say on the button what to expect.
 * @param {Page} page
 * @param {HTMLButtonElement} button
 * @param {boolean} alone  whether the page itself can notify while it is open
 * @returns {Promise<boolean>}  whether the server notifies a closed tab too
 */
export async function notify(page, button, alone) {
  const granted = Notification.permission === "granted";
  const pushed = granted && Boolean(page.push) && await subscribe(page).catch(() => false);
  button.disabled = true;
  button.hidden = granted && !pushed && !alone;
  const words = await (await fetch(`/rooms/${page.room}/alerts?lang=${page.lang}`)).json();
  button.textContent = words[pushed ? "push" : granted ? "open" : "denied"];
  return pushed;
}

/**
 * Let the server notify this browser of its turn, even when the page is closed.
 * @param {Page} page
 * @returns {Promise<boolean>}  whether the server has the subscription
 */
async function subscribe({ room, lang, push }) {
  const registration = await navigator.serviceWorker.register(trusted(`/rooms/${room}/push.js`));
  await activated(registration);
  const { pushManager: manager } = registration;
  const wanted = { userVisibleOnly: true, applicationServerKey: push };
  const subscription = await manager.subscribe(wanted).catch(async () => {
    // There is an older subscription, for another key of the server.
    await (await manager.getSubscription())?.unsubscribe();
    return manager.subscribe(wanted);
  });
  const answer = await fetch(`/v1/rooms/${room}/tickets/me/push`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...subscription.toJSON(), lang }),
  });
  return answer.ok;
}

/** @param {string} url @returns {string}  a URL that the page's policy trusts */
function trusted(url) {
  const types = /** @type {any} */ (window).trustedTypes;
  return types ? types.createPolicy("waitroom-push", { createScriptURL: (/** @type {string} */ text) => text }).createScriptURL(url) : url;
}

/** @param {ServiceWorkerRegistration} registration */
function activated(registration) {
  const worker = registration.installing ?? registration.waiting;
  if (registration.active || !worker) return null;
  return new Promise((resolve) => {
    worker.addEventListener("statechange", () => worker.state === "activated" && resolve(null));
  });
}

/** @type {AudioContext | undefined} */
let audio;

/** Play two notes, if the browser allows it. @returns {boolean} */
export function beep() {
  audio ??= new AudioContext();
  void audio.resume();
  for (const [from, pitch] of [[0, 660], [0.25, 880]]) {
    const tone = new OscillatorNode(audio, { frequency: pitch });
    const loud = new GainNode(audio, { gain: 0.2 });
    tone.connect(loud).connect(audio.destination);
    tone.start(audio.currentTime + from);
    tone.stop(audio.currentTime + from + 0.2);
  }
  return true;
}
