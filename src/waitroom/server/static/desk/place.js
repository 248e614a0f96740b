// A guest's place, live: where they stand, and that their table is ready. Everything else is a form.
// Without this script the page renews itself; the server writes the same words.
"use strict";
(() => {
  const page = JSON.parse(document.getElementById("page").textContent);
  const parts = {};
  for (const one of document.querySelectorAll("[data-x]")) parts[one.dataset.x] = one;
  const skewMs = page.now_ms - Date.now(); // a phone's clock may be minutes off
  const now = () => Date.now() + skewMs;

  let face = page.face, place = page.place, paused = page.paused;
  let freshMs = now(), askAtMs = now() + 5_000, lost = face === "away", busy = false, stream = null;

  // Words -------------------------------------------------------------------------------------

  const count = new Intl.NumberFormat(page.lang);
  const say = (key, values = {}) =>
    page.text[key].replace(/\{(\w+)\}/g, (_, name) => {
      const value = values[name];
      return typeof value === "number" ? count.format(value) : value;
    });
  const some = (key, n) => say(n === 1 && page.text[`${key}_one`] ? `${key}_one` : key, { n });
  const time = (ms) => new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: page.time_zone,
  }).format(ms);
  const step = (m) => (m < 20 ? 1 : m < 120 ? 5 : 10);

  function span(total) {
    const h = Math.floor(total / 60), m = total % 60;
    if (!h) return say("span_m", { m });
    return m ? say("span_hm", { h, m }) : say("span_h", { h });
  }

  function wait(m) {
    if (m === null) return say("wait_unknown");
    if (m < 1) return say("wait_soon");
    const by = step(m);
    return say("wait_about", { span: span(Math.floor((m + Math.floor(by / 2)) / by) * by) });
  }

  function within(found) {
    const by = step(found.high);
    const low = Math.floor(found.low / by) * by, high = Math.max(1, Math.ceil(found.high / by) * by);
    if (low === high) return say("wait_about", { span: span(high) });
    if (low < 1) return say("wait_up_to", { span: span(high) });
    if (high < 120) return say("wait_range", { low, high });
    return say("wait_long_range", { low: span(low), high: span(high) });
  }

  function write(name, text) {
    const part = parts[name];
    if (part && part.textContent !== text) part.textContent = text;
    return part;
  }

  const tell = (text) => write("live", text); // said aloud, so use it rarely
  const ahead = () => (place.position > 1 ? some("place_ahead", place.position - 1) : say("place_next"));

  // What is shown -----------------------------------------------------------------------------

  function show(next) {
    const before = face;
    face = next;
    for (const one of document.querySelectorAll("[data-face]")) one.hidden = one.dataset.face !== face;
    if (face === "called" && before !== "called") ready();
    document.title = `${face === "called" ? `● ${say("called_title")}` : ahead()} · ${page.title}`;
    document.querySelector("link[rel=icon]").href = face === "called" ? page.turn_icon : page.icon;
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
    // Browsers refuse it, and complain, on a page that nobody has touched yet.
    if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.([400, 150, 400, 150, 400]);
    if (parts.sound?.checked) beep();
    if (window.Notification?.permission === "granted") {
      try { new Notification(say("called_title"), { body: page.title, tag: page.path }); } catch { /* Android wants a worker */ }
    }
  }

  function beep() {
    try {
      const audio = (beep.audio ??= new AudioContext());
      audio.resume();
      for (const [from, pitch] of [[0, 660], [0.25, 880], [0.5, 1100]]) {
        const tone = new OscillatorNode(audio, { frequency: pitch });
        const loud = new GainNode(audio, { gain: 0.25 });
        tone.connect(loud).connect(audio.destination);
        tone.start(audio.currentTime + from);
        tone.stop(audio.currentTime + from + 0.2);
      }
    } catch { /* no sound here */ }
  }

  // What is heard -----------------------------------------------------------------------------

  function heard(found) {
    lost = false;
    freshMs = now();
    askAtMs = now() + Math.max(2_000, found.poll_after_ms ?? 10_000);
    const live = found.status === "WAITING" || found.status === "CALLED";
    // The server has the words for an end, and for a host who takes it back.
    if (live !== page.live || (!live && found.status !== place?.status)) return reload();
    place = found;
    if (!live) return;
    show(found.status === "CALLED" ? "called" : "waiting");
    paint();
  }

  function astray() {
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
    stream = new EventSource(`${page.api}/events`);
    const on = (kind, then) => stream.addEventListener(kind, (event) => then(event.data ? JSON.parse(event.data) : null));
    on("place", heard);
    on("store", (found) => { paused = found.mode !== "open"; paint(); });
    on("gone", () => (page.live ? reload() : stream.close()));
    on("away", astray);
    stream.onerror = () => { askAtMs = 0; }; // it comes back by itself, and until then we ask
  }

  async function ask() {
    askAtMs = now() + 5_000;
    try {
      const answer = await fetch(page.api, { headers: { accept: "application/json" }, signal: AbortSignal.timeout(8_000) });
      if (answer.ok) heard(await answer.json());
      else if (answer.status === 404 || answer.status === 410) reload();
      else astray();
    } catch {
      astray();
    }
  }

  // The heart ---------------------------------------------------------------------------------

  function beat() {
    if (stream?.readyState === EventSource.CLOSED && page.live) stream = null;
    if (!stream && !document.hidden) listen();
    // Also while the stream is open: it is silent while nothing changes, also when it is broken.
    if (now() > askAtMs && !document.hidden && (page.live || lost)) ask();
    paint();
  }

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    event.preventDefault();
    if (busy) return;
    busy = true;
    // A lost network must not replace this page by the browser's own.
    fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) })
      .then((answer) => {
        if (answer.status >= 500) throw Error(answer.status);
        location.assign(answer.url);
      })
      .catch(() => { busy = false; astray(); });
  });

  const kept = (name) => { try { return localStorage.getItem(name); } catch { return null; } };
  const keep = (name, value) => { try { localStorage.setItem(name, value); } catch { /* private mode */ } };

  function notifyWords() {
    const state = window.Notification?.permission;
    parts.notify.hidden = !state;
    parts.notify.disabled = state !== "default";
    write("notify", say(state === "granted" ? "notify_yes" : state === "denied" ? "notify_no" : "notify"));
  }

  if (parts.choices) {
    parts.choices.hidden = false;
    parts.sound.checked = kept("waitroom:sound") === "1";
    parts.sound.addEventListener("change", () => {
      keep("waitroom:sound", parts.sound.checked ? "1" : "0");
      if (parts.sound.checked) beep(); // how it will sound; a click also allows it later
    });
    parts.notify.addEventListener("click", async () => { await Notification.requestPermission(); notifyWords(); });
    notifyWords();
  }

  setInterval(beat, 1_000);
  document.addEventListener("visibilitychange", () => { askAtMs = 0; beat(); });
  window.addEventListener("online", ask);
  beat();
})();
