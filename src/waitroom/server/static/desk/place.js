// A guest's place, live: where they stand, and that their table is ready. Everything else is a form.
// Without this script the page reloads itself; the server writes the same words.
"use strict";
(() => {
  /**
   * Where a party stands, in the API's form.
   * @typedef {object} Place
   * @property {string} status
   * @property {number} position
   * @property {number} waiting
   * @property {?number} wait_minutes
   * @property {?{low: number, likely: number, high: number}} observed  waits of parties before, in minutes
   * @property {number} [poll_after_ms]
   */

  /**
   * What the server knows: `_client` in `desk/pages/place.py` writes it.
   * @typedef {object} Page
   * @property {string} api
   * @property {string} path
   * @property {string} lang
   * @property {string} face  which part of the page is shown
   * @property {boolean} live  whether the party still waits or is called
   * @property {string} title
   * @property {string} time_zone
   * @property {number} now_ms
   * @property {boolean} paused
   * @property {string} icon
   * @property {string} turn_icon
   * @property {Place} place  null while Waitroom is away; the first answer fills it
   * @property {Record<string, string>} text
   */

  /** @type {Page} */
  const page = JSON.parse(/** @type {HTMLElement} */ (document.getElementById("page")).textContent);
  /** @param {string} selector @returns {NodeListOf<HTMLElement>} */
  const all = (selector) => document.querySelectorAll(selector);
  /** @type {Record<string, HTMLElement> & {notify: HTMLButtonElement, sound: HTMLInputElement}} */
  const parts = Object.fromEntries(Array.from(all("[data-x]"), (part) => [part.dataset.x, part]));
  const skewMs = page.now_ms - Date.now(); // a phone's clock may be minutes off
  const now = () => Date.now() + skewMs;

  let { face, place, paused } = page;
  let freshMs = now(), askAtMs = now() + 5_000, lost = face === "away", busy = false;
  /** @type {?EventSource} */
  let stream = null;

  // Words -------------------------------------------------------------------------------------

  const count = new Intl.NumberFormat(page.lang);
  /** @param {string} key @param {Record<string, string | number>} [values] */
  const say = (key, values = {}) =>
    page.text[key].replace(/\{(\w+)\}/g, (_, name) => {
      const value = values[name];
      return typeof value === "number" ? count.format(value) : value;
    });
  /** @param {string} key @param {number} n */
  const some = (key, n) => say(n === 1 && page.text[`${key}_one`] ? `${key}_one` : key, { n });
  /** @param {number} ms */
  const time = (ms) => new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: page.time_zone,
  }).format(ms);
  /** @param {number} m */
  const step = (m) => (m < 20 ? 1 : m < 120 ? 5 : 10);

  /** @param {number} total */
  function span(total) {
    const h = Math.floor(total / 60), m = total % 60;
    if (!h) return say("span_m", { m });
    return m ? say("span_hm", { h, m }) : say("span_h", { h });
  }

  /** @param {?number} m */
  function wait(m) {
    if (m === null) return say("wait_unknown");
    if (m < 1) return say("wait_soon");
    const by = step(m);
    return say("wait_about", { span: span(Math.floor((m + Math.floor(by / 2)) / by) * by) });
  }

  /** @param {{low: number, high: number}} range */
  function within(range) {
    const by = step(range.high);
    const low = Math.floor(range.low / by) * by, high = Math.max(1, Math.ceil(range.high / by) * by);
    if (low === high) return say("wait_about", { span: span(high) });
    if (low < 1) return say("wait_up_to", { span: span(high) });
    if (high < 120) return say("wait_range", { low, high });
    return say("wait_long_range", { low: span(low), high: span(high) });
  }

  /** @param {string} name @param {string} text */
  function write(name, text) {
    const part = parts[name];
    if (part && part.textContent !== text) part.textContent = text;
  }

  /** @param {string} text */
  const tell = (text) => write("live", text); // read aloud, so use it rarely
  const ahead = () => (place.position > 1 ? some("place_ahead", place.position - 1) : say("place_next"));

  // Display -----------------------------------------------------------------------------------

  /** @param {string} next */
  function show(next) {
    const before = face;
    face = next;
    const called = face === "called", headline = called ? `● ${say("called_title")}` : ahead();
    for (const part of all("[data-face]")) part.hidden = part.dataset.face !== face;
    if (called && before !== "called") ready();
    document.title = `${headline} · ${page.title}`;
    /** @type {HTMLLinkElement} */ (document.querySelector("link[rel=icon]")).href = called ? page.turn_icon : page.icon;
  }

  function paint() {
    if (face === "waiting") {
      const text = ahead();
      if (parts.ahead.textContent !== text) tell(say("live_place", { ahead: text, wait: wait(place.wait_minutes) }));
      write("ahead", text);
      write("of", say("place_of", { teams: some("teams", Math.max(place.waiting, place.position)) }));
      write("wait", wait(place.wait_minutes));
      parts.turn.hidden = !place.wait_minutes;
      if (place.wait_minutes) {
        write("clock", say("place_clock", { time: time(Math.round((freshMs + place.wait_minutes * 60_000) / 300_000) * 300_000) }));
      }
      parts.observed.hidden = !place.observed;
      if (place.observed) write("observed", say("place_observed", { range: within(place.observed) }));
      parts.note.hidden = !paused;
      write("note", paused ? say("place_paused") : "");
    }
    if (!parts.fresh) return;
    const ago = Math.round((now() - freshMs) / 1000);
    write("fresh", lost ? say("link_lost") : ago < 3 ? say("link_now") : say("link_ago", { n: ago }));
    parts.link.classList.toggle("lost", lost);
  }

  function ready() {
    tell(say("called_title"));
    // Browsers refuse to vibrate, and complain, on a page that nobody has touched yet.
    if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.([400, 150, 400, 150, 400]);
    if (parts.sound?.checked) beep();
    if (window.Notification?.permission === "granted") {
      try { new Notification(say("called_title"), { body: page.title, tag: page.path }); } catch { /* Android wants a worker */ }
    }
  }

  /** @type {AudioContext | undefined} */
  let audio;

  function beep() {
    try {
      audio ??= new AudioContext();
      void audio.resume();
      for (const [from, pitch] of [[0, 660], [0.25, 880], [0.5, 1100]]) {
        const tone = new OscillatorNode(audio, { frequency: pitch });
        const loud = new GainNode(audio, { gain: 0.25 });
        tone.connect(loud).connect(audio.destination);
        tone.start(audio.currentTime + from);
        tone.stop(audio.currentTime + from + 0.2);
      }
    } catch { /* no sound here */ }
  }

  // News from the server ----------------------------------------------------------------------

  /** @param {Place} view */
  function heard(view) {
    lost = false;
    freshMs = now();
    askAtMs = now() + Math.max(2_000, view.poll_after_ms ?? 10_000);
    const live = view.status === "WAITING" || view.status === "CALLED";
    // The server has the words for an end, and for a host who undoes it.
    if (live !== page.live || (!live && view.status !== place?.status)) return reload();
    place = view;
    if (!live) return;
    show(view.status === "CALLED" ? "called" : "waiting");
    paint();
  }

  function away() {
    if (!lost) tell(say("link_lost"));
    lost = true;
    askAtMs = Math.min(askAtMs, now() + 5_000);
    paint();
  }

  function reload() {
    if (busy) return;
    busy = true;
    stream?.close();
    location.reload();
  }

  function listen() {
    const source = new EventSource(`${page.api}/events`);
    source.addEventListener("place", (event) => heard(JSON.parse(event.data)));
    source.addEventListener("store", (event) => { paused = JSON.parse(event.data).mode !== "open"; paint(); });
    source.addEventListener("gone", () => (page.live ? reload() : source.close()));
    source.addEventListener("away", away);
    source.onerror = () => { askAtMs = 0; }; // it reconnects by itself, and until then we ask
    stream = source;
  }

  async function ask() {
    askAtMs = now() + 5_000;
    try {
      const answer = await fetch(page.api, { headers: { accept: "application/json" }, signal: AbortSignal.timeout(8_000) });
      if (answer.ok) heard(await answer.json());
      else if (answer.status === 404 || answer.status === 410) reload();
      else away();
    } catch {
      away();
    }
  }

  // The main loop -----------------------------------------------------------------------------

  function beat() {
    if (stream?.readyState === EventSource.CLOSED && page.live) stream = null;
    if (!stream && !document.hidden) listen();
    // Even while the stream is open: it is silent while nothing changes, but also when it is broken.
    if (now() > askAtMs && !document.hidden && (page.live || lost)) void ask();
    paint();
  }

  document.addEventListener("submit", (event) => {
    const form = /** @type {HTMLFormElement} */ (event.target);
    if (form.method !== "post") return;
    event.preventDefault();
    if (busy) return;
    busy = true;
    // A lost network must not replace this page with the browser's own.
    fetch(form.action, { method: "POST", body: new URLSearchParams(/** @type {[string, string][]} */ ([...new FormData(form)])) })
      .then((answer) => {
        if (answer.status >= 500) throw Error(String(answer.status));
        location.assign(answer.url);
      })
      .catch(() => { busy = false; away(); });
  });

  /** @param {string} name */
  const saved = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
  /** @param {string} name @param {string} value */
  const save = (name, value) => { try { localStorage.setItem(name, value); } catch { /* private mode */ } };

  function notifyWords() {
    const state = window.Notification?.permission;
    parts.notify.hidden = !state;
    parts.notify.disabled = state !== "default";
    write("notify", say(state === "granted" ? "notify_yes" : state === "denied" ? "notify_no" : "notify"));
  }

  if (parts.choices) {
    parts.choices.hidden = false;
    parts.sound.checked = saved("waitroom:sound") === "1";
    parts.sound.addEventListener("change", () => {
      save("waitroom:sound", parts.sound.checked ? "1" : "0");
      if (parts.sound.checked) beep(); // how it will sound; a click also allows sound later
    });
    parts.notify.addEventListener("click", async () => { await Notification.requestPermission(); notifyWords(); });
    notifyWords();
  }

  setInterval(beat, 1_000);
  document.addEventListener("visibilitychange", () => { askAtMs = 0; beat(); });
  window.addEventListener("online", ask);
  beat();
})();
