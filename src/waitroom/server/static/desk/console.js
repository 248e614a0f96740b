// The console, live: shows the list again whenever it changes, and keeps a queue of unsaved changes.
// Without this script every button works as a form; with it, no press is lost to a bad network.
"use strict";
(() => {
  const { liveUrl = "", eventsUrl = "", door = "" } = document.body.dataset;
  const SLOW_MS = 400; // a faster answer needs no message
  const EVERY_MS = 30_000; // minutes waited grow even if nobody does anything
  const POLL_MS = 3_000; // while no stream is open
  /** @param {string} id */
  const by = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
  /** @param {string} selector @param {ParentNode} [root] @returns {HTMLElement[]} */
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  /** @param {ParentNode} root @returns {HTMLButtonElement[]} */
  const buttons = (root) => Array.from(root.querySelectorAll("button"));
  /** @param {EventTarget | null} target @param {string} selector @returns {HTMLElement | null | undefined} */
  const around = (target, selector) => /** @type {?Element} */ (target)?.closest(selector);
  const link = by("link"), unsaved = by("unsaved"), alertBox = by("alert"), notice = by("said");
  const keys = /** @type {HTMLDialogElement} */ (by("keys"));
  const keysOn = /** @type {HTMLInputElement} */ (by("keys-on"));
  let freshMs = Date.now(), lookAtMs = Date.now() + EVERY_MS, again = false, lost = false;
  /** @type {?Promise<void>} */
  let looking = null;
  /** @type {?EventSource} */
  let stream = null;
  let shown = all("[data-tab][aria-current]")[0]?.dataset.tab ?? "";

  /** @param {Storage} storage @param {string} name */
  const saved = (storage, name) => { try { return storage.getItem(name); } catch { return null; } };
  /** @param {Storage} storage @param {string} name @param {string} value */
  const keep = (storage, name, value) => { try { storage.setItem(name, value); } catch { /* private mode */ } };

  // The list ----------------------------------------------------------------------------------

  /** @param {string} id @returns {?HTMLElement} */
  const party = (id) => document.getElementById(`p-${id}`);
  /** @param {ParentNode} [root] */
  const cards = (root) => all("[data-party]", root).filter((card) => card.getClientRects().length);

  /** @param {string} name */
  function choose(name) {
    shown = name;
    for (const part of all("[data-type]")) part.hidden = part.dataset.type !== name;
    for (const tab of all("[data-tab]")) {
      if (tab.dataset.tab === name) tab.setAttribute("aria-current", "true");
      else tab.removeAttribute("aria-current");
    }
    const select = /** @type {?HTMLSelectElement} */ (document.getElementById("add-type"));
    if (select) select.value = name;
  }

  /**
   * The parties of the list after the one that has the focus, then those before it, nearest first.
   * @param {Element} active
   */
  function following(active) {
    const listed = cards(by("list"));
    const n = listed.findIndex((card) => card.contains(active));
    return n < 0 ? [] : [...listed.slice(n + 1), ...listed.slice(0, n).reverse()].map((card) => card.dataset.party ?? "");
  }

  // Replacing the list under a finger would swallow the tap: wait until the finger is up.
  let pressedMs = 0;
  /** @type {?string} */
  let pending = null;
  document.addEventListener("pointerdown", () => { pressedMs = Date.now(); });
  for (const name of ["pointerup", "pointercancel"]) {
    document.addEventListener(name, () => {
      pressedMs = 0;
      setTimeout(() => { const html = pending; pending = null; if (html !== null) renew(html); });
    });
  }

  /** @param {Element} element  what people press, distinguished from others of its party */
  const nameOf = (element) => [element.tagName, element.getAttribute("name"), element.getAttribute("value")].join();

  // What a person works with stays: the focus by party and button, and open details.
  /** @param {string} html */
  function renew(html) {
    if (Date.now() - pressedMs < 1_000) { pending = html; return; }
    const page = new DOMParser().parseFromString(html, "text/html");
    const active = document.activeElement, id = around(active, "[data-party]")?.dataset.party;
    const after = active && id ? following(active) : [];
    const open = all("[data-live] details[open]").map((details) => details.dataset.key ?? "");
    for (const part of page.querySelectorAll("[data-live]")) {
      const old = document.getElementById(part.id);
      if (!old) continue;
      old.className = part.className;
      old.replaceChildren(...part.childNodes);
    }
    for (const key of open) document.querySelector(`[data-key="${CSS.escape(key)}"]`)?.setAttribute("open", "");
    choose(shown);
    mark();
    showPhones();
    if (!active || !id || active.isConnected) return;
    // A party that has left the line gives the focus to the next one in it.
    const left = after.length && !by("list").contains(party(id));
    const card = left ? after.map(party).find((other) => by("list").contains(other)) : party(id);
    const same = card && all("button, summary", card).find((other) => nameOf(other) === nameOf(active));
    (same ?? card)?.focus({ preventScroll: true });
  }

  async function look() {
    if (looking) { again = true; return looking; }
    looking = (async () => {
      try {
        const answer = await fetch(liveUrl, { headers: { accept: "text/html" }, signal: AbortSignal.timeout(6_000) });
        if (answer.status === 401) return void location.assign(door);
        if (!answer.ok) throw Error(String(answer.status));
        renew(await answer.text());
        freshMs = Date.now();
        lost = false;
      } catch {
        lost = true;
      } finally {
        lookAtMs = Date.now() + (stream?.readyState === EventSource.OPEN && !lost ? EVERY_MS : POLL_MS);
        looking = null;
        showLink();
      }
    })();
    await looking;
    if (again) { again = false; await look(); }
  }

  function listen() {
    stream = new EventSource(eventsUrl);
    stream.addEventListener("line", look);
    stream.addEventListener("gone", look); // the key may be gone: looking leads to the sign-in
    stream.addEventListener("away", look); // the live line is away; the record still works
    stream.onerror = () => { lookAtMs = Math.min(lookAtMs, Date.now() + POLL_MS); };
  }

  function showLink() {
    const ago = Math.round((Date.now() - freshMs) / 1000);
    link.hidden = false;
    link.classList.toggle("lost", lost);
    const live = ago < 5 || stream?.readyState === EventSource.OPEN;
    const { lost: lostWords = "", liveWords = "", ago: agoWords = "" } = link.dataset;
    const text = lost ? lostWords : live ? liveWords : agoWords.replace("{n}", String(ago));
    const words = /** @type {Node} */ (link.lastChild);
    if (words.textContent !== text) words.textContent = text;
  }

  // Unsaved changes -----------------------------------------------------------------------------

  /**
   * What a host pressed: it stays in the queue until the server has accepted or refused it.
   * @typedef {object} Change
   * @property {string} op  the idempotency key
   * @property {string} url
   * @property {[string, string][]} body
   * @property {string} party  empty if it is about no party
   * @property {string} type
   * @property {string} words  the words on the button
   * @property {boolean} late  whether it takes long enough to say so
   */

  const QUEUE = `waitroom:unsaved:${location.pathname}`;
  /** @type {Change[]} */
  let queue = [];
  try { queue = JSON.parse(saved(sessionStorage, QUEUE) || "[]"); } catch { /* not ours */ }
  let sending = false, tries = 0, timer = 0;

  function store() { keep(sessionStorage, QUEUE, JSON.stringify(queue)); }

  function mark() {
    const late = queue.filter((change) => change.late).length;
    unsaved.hidden = !late;
    const text = late ? (unsaved.dataset.count ?? "").replace("{n}", String(late)) : "";
    if (unsaved.textContent !== text) unsaved.textContent = text;
    const busy = new Map(queue.map((change) => [change.party, change]));
    for (const card of all("[data-party]")) markCard(card, busy.get(card.dataset.party ?? ""));
    /** @type {NodeListOf<HTMLFormElement>} */
    const forms = document.querySelectorAll(".call form");
    for (const form of forms) {
      const type = new FormData(form).get("type");
      const calling = queue.some((change) => !change.party && change.url === form.action && change.type === type);
      const empty = !form.closest("section")?.querySelector("[name=expected]");
      for (const button of buttons(form)) button.disabled = calling || empty;
    }
  }

  /** @param {HTMLElement} card @param {Change | undefined} change */
  function markCard(card, change) {
    card.classList.toggle("busy", Boolean(change));
    if (change && card.contains(document.activeElement)) card.focus({ preventScroll: true });
    for (const button of buttons(card)) button.disabled = Boolean(change);
    let note = card.querySelector(".wait-mark");
    if (!change?.late) return note?.remove();
    if (!note) {
      note = document.createElement("p");
      note.className = "wait-mark";
      card.append(note);
    }
    note.textContent = `${unsaved.dataset.words}: ${change.words}`;
  }

  /** @param {HTMLFormElement} form @param {?HTMLElement} button */
  function act(form, button) {
    const data = new FormData(form, button);
    data.delete("op");
    data.delete("token"); // the page's current one is added when it is sent
    const body = /** @type {[string, string][]} */ ([...data]);
    const { party: id = "", type = "" } = Object.fromEntries(body);
    if (id && queue.some((waiting) => waiting.party === id)) return;
    const op = Array.from(crypto.getRandomValues(new Uint8Array(16)), (n) => n.toString(16).padStart(2, "0")).join("");
    const change = { op, url: form.action, body, party: id, type, words: button?.textContent.trim() ?? "", late: false };
    queue.push(change);
    store();
    setTimeout(() => { if (queue.includes(change)) { change.late = true; mark(); } }, SLOW_MS);
    if (form.dataset.reset !== undefined) form.reset();
    hide(alertBox);
    mark();
    void send();
  }

  async function send() {
    if (sending || !queue.length) return;
    sending = true;
    clearTimeout(timer);
    while (queue.length && (await save(queue[0]))) tries = 0;
    sending = false;
    mark();
    if (queue.length) timer = setTimeout(send, Math.min(5_000, 500 * 2 ** tries++));
  }

  /**
   * Returns whether to continue: the change was saved or refused. The same key is sent until then, so
   * that a change whose answer got lost is not made twice.
   * @param {Change} change
   */
  async function save(change) {
    let answer, reply;
    try {
      const body = new URLSearchParams(change.body);
      body.set("token", document.body.dataset.token ?? "");
      answer = await fetch(change.url, {
        method: "POST", body, signal: AbortSignal.timeout(8_000),
        headers: { accept: "application/json", "idempotency-key": change.op },
      });
      if (answer.status === 401) { location.assign(door); return false; } // the queue survives
      if (answer.status >= 500 || answer.status === 408 || answer.status === 429) throw Error(String(answer.status));
      reply = await answer.json().catch(() => ({}));
    } catch {
      for (const waiting of queue) waiting.late = true;
      lost = true;
      store();
      mark();
      showLink();
      return false;
    }
    queue = queue.filter((waiting) => waiting !== change);
    store();
    lost = false;
    if (answer.ok) tell(reply); else warn(reply.said || `${answer.status}`);
    await look();
    return true;
  }

  // Messages ----------------------------------------------------------------------------------

  let hideTimer = 0;
  /** @param {HTMLElement} box */
  const hide = (box) => { box.hidden = true; };

  /** @param {HTMLElement} box @param {string} text */
  function write(box, text) {
    /** @type {HTMLElement} */ (box.querySelector("span")).textContent = text;
    box.hidden = !text;
  }

  /** @param {{said?: string, undo?: ?{party: string, revision: string}}} reply */
  function tell({ said: text = "", undo }) {
    write(notice, text);
    const form = notice.querySelector("form");
    if (form) form.hidden = !undo;
    if (form && undo) {
      for (const name of /** @type {const} */ (["party", "revision"])) {
        /** @type {HTMLInputElement} */ (form.elements.namedItem(name)).value = undo[name];
      }
    }
    clearTimeout(hideTimer);
    hideTimer = setTimeout(() => hide(notice), 12_000);
  }

  /** @param {string} text */
  function warn(text) {
    write(alertBox, text);
    hide(notice);
  }

  // Pointer and keyboard ----------------------------------------------------------------------

  document.addEventListener("submit", (event) => {
    const form = /** @type {HTMLFormElement} */ (event.target);
    if (form.method !== "post" || form.dataset.plain !== undefined) return;
    event.preventDefault();
    if (notice.contains(form)) hide(notice);
    act(form, event.submitter);
  });

  document.addEventListener("click", (event) => {
    const tab = around(event.target, "[data-tab]"), step = around(event.target, "[data-step]");
    if (tab && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      choose(tab.dataset.tab ?? "");
      history.replaceState(null, "", `?type=${encodeURIComponent(shown)}`);
    }
    const input = step?.parentElement?.querySelector("input");
    if (step && input) {
      const n = (Number.parseInt(input.value, 10) || 1) + Number(step.dataset.step);
      input.value = String(Math.min(Number(input.max), Math.max(1, n)));
    }
    if (around(event.target, "[data-dismiss]")) hide(alertBox);
    const phone = /** @type {?HTMLAnchorElement} */ (around(event.target, "a.phone"));
    if (phone && !phone.href.startsWith("tel:")) {
      event.preventDefault();
      void reveal(phone);
    }
  });

  // The whole number, to call it, for a minute. The party's history says who looked at it.
  const PHONE_MS = 60_000;
  /** @type {Map<string, string>} */
  const phones = new Map();

  /** @param {HTMLAnchorElement} phone */
  async function reveal(phone) {
    const id = around(phone, "[data-party]")?.dataset.party ?? "";
    try {
      const answer = await fetch(phone.href, { headers: { accept: "application/json" }, signal: AbortSignal.timeout(6_000) });
      if (!answer.ok) throw Error(String(answer.status));
      phones.set(id, (await answer.json()).phone);
      setTimeout(() => { phones.delete(id); void look(); }, PHONE_MS);
    } catch {
      lost = true;
      showLink();
    }
    showPhones();
  }

  function showPhones() {
    for (const [id, number] of phones) {
      const phone = party(id)?.querySelector("a.phone");
      if (!phone || !number) continue;
      phone.textContent = number;
      phone.setAttribute("href", `tel:${number}`);
    }
  }

  /** @param {number} steps */
  function move(steps) {
    const choices = cards();
    const at = choices.findIndex((card) => card.contains(document.activeElement));
    const next = choices[at < 0 ? 0 : Math.min(choices.length - 1, Math.max(0, at + steps))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  }

  /** @param {?ParentNode | undefined} root @param {string} selector */
  function press(root, selector) {
    /** @type {?HTMLButtonElement | undefined} */
    const button = root?.querySelector(selector);
    button?.click();
  }

  /** @type {Record<string, string>} */
  const ACTIONS = { c: "call", s: "seat", x: "no_show", u: "undo" };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keysOn.checked || keys.open) return;
    // A dialog that has just closed keeps the focus until the next frame.
    if (around(event.target, "input, select, textarea") && !around(event.target, "dialog:not([open])")) return;
    const action = ACTIONS[event.key];
    if (event.key === "?") keys.showModal();
    else if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "n") press(document, ".call:not([hidden]) .next:enabled");
    else if (action) press(around(document.activeElement, "[data-party]"), `[name=do][value=${action}]:enabled`);
    else return;
    event.preventDefault();
  });

  by("help").hidden = false;
  by("help").addEventListener("click", () => keys.showModal());
  keysOn.checked = saved(localStorage, "waitroom:keys") !== "0";
  keysOn.addEventListener("change", () => keep(localStorage, "waitroom:keys", keysOn.checked ? "1" : "0"));
  for (const button of all("[data-step], [data-dismiss]")) button.hidden = false;
  // On a small screen the list comes first; ended parties are one tap away.
  if (matchMedia("(max-width: 63.99rem)").matches) document.querySelector("[data-key=ended]")?.removeAttribute("open");

  // The main loop -----------------------------------------------------------------------------

  setInterval(() => {
    if (stream?.readyState === EventSource.CLOSED) stream = null;
    if (!stream && !document.hidden) listen();
    if (Date.now() > lookAtMs && !document.hidden) void look();
    showLink();
  }, 1_000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) void look(); });
  window.addEventListener("online", () => { tries = 0; void send(); void look(); });
  window.addEventListener("beforeunload", (event) => { if (queue.length) event.preventDefault(); });
  listen();
  showLink();
  mark();
  void send();
})();
