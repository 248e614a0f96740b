// The console, live: the same list again whenever it changed, and a queue of what is not saved yet.
// Without this script every button works as a form; with it, none is lost to a flaky network.
"use strict";
(() => {
  const { liveUrl, eventsUrl, door } = document.body.dataset;
  const SLOW_MS = 400; // an answer within this time needs no words
  const EVERY_MS = 30_000; // minutes waited grow without anybody doing anything
  const POLL_MS = 3_000; // while no stream is open
  const by = (id) => document.getElementById(id);
  const link = by("link"), unsaved = by("unsaved"), alertBox = by("alert"), said = by("said");
  const keysOn = by("keys-on");
  let freshMs = Date.now(), lookAtMs = Date.now() + EVERY_MS, looking = null, again = false, lost = false;
  let stream = null, shown = document.querySelector("[data-tab][aria-current]")?.dataset.tab;

  const kept = (store, name) => { try { return store.getItem(name); } catch { return null; } };
  const keep = (store, name, value) => { try { store.setItem(name, value); } catch { /* private mode */ } };

  // The list ----------------------------------------------------------------------------------

  const party = (id) => by(`p-${id}`);

  function choose(name) {
    shown = name;
    for (const one of document.querySelectorAll("[data-type]")) one.hidden = one.dataset.type !== name;
    for (const one of document.querySelectorAll("[data-tab]")) {
      if (one.dataset.tab === name) one.setAttribute("aria-current", "true");
      else one.removeAttribute("aria-current");
    }
    const type = by("add-type");
    if (type) type.value = name;
  }

  // The parties of a list from one on, then those before it, nearest first.
  function following(at) {
    const cards = [...by("list").querySelectorAll("[data-party]")].filter((one) => one.getClientRects().length);
    const n = cards.findIndex((one) => one.contains(at));
    return n < 0 ? [] : [...cards.slice(n + 1), ...cards.slice(0, n).reverse()].map((one) => one.dataset.party);
  }

  // A list that is exchanged under a finger would swallow the tap: it waits until the finger is up.
  let pressedMs = 0, held = null;
  document.addEventListener("pointerdown", () => { pressedMs = Date.now(); });
  for (const name of ["pointerup", "pointercancel"]) {
    document.addEventListener(name, () => {
      pressedMs = 0;
      setTimeout(() => { const html = held; held = null; if (html !== null) renew(html); });
    });
  }

  // What a person is at stays: the focus by party and button, and details that are open.
  function renew(html) {
    if (Date.now() - pressedMs < 1_000) { held = html; return; }
    const page = new DOMParser().parseFromString(html, "text/html");
    const at = document.activeElement;
    const card = at?.closest("[data-party]")?.dataset.party, place = at && [at.name, at.value, at.tagName];
    const after = card ? following(at) : [];
    const open = [...document.querySelectorAll("[data-live] details[open]")].map((one) => one.dataset.key);
    for (const part of page.querySelectorAll("[data-live]")) {
      const old = by(part.id);
      if (!old) continue;
      old.className = part.className;
      old.replaceChildren(...part.childNodes);
    }
    for (const key of open) document.querySelector(`[data-key="${CSS.escape(key)}"]`)?.setAttribute("open", "");
    choose(shown);
    mark();
    showPhones();
    if (!card || at.isConnected) return;
    // Who has left the line gives the focus to the next one in it.
    const left = after.length && !by("list").contains(party(card));
    const now = left ? after.map(party).find((one) => by("list").contains(one)) : party(card);
    const same = [...(now?.querySelectorAll("button, summary") ?? [])]
      .find((one) => one.name === place[0] && one.value === place[1] && one.tagName === place[2]);
    (same ?? now)?.focus({ preventScroll: true });
  }

  async function look() {
    if (looking) { again = true; return looking; }
    looking = (async () => {
      try {
        const answer = await fetch(liveUrl, { headers: { accept: "text/html" }, signal: AbortSignal.timeout(6_000) });
        if (answer.status === 401) return void location.assign(door);
        if (!answer.ok) throw Error(answer.status);
        renew(await answer.text());
        freshMs = Date.now();
        lost = false;
      } catch {
        lost = true;
      } finally {
        lookAtMs = Date.now() + (stream?.readyState === EventSource.OPEN && !lost ? EVERY_MS : POLL_MS);
        looking = null;
        words();
      }
    })();
    await looking;
    if (again) { again = false; await look(); }
  }

  function listen() {
    stream = new EventSource(eventsUrl);
    stream.addEventListener("line", look);
    stream.addEventListener("gone", look); // the key may be gone: looking leads to the door
    stream.addEventListener("away", look); // the live line is; the record goes on
    stream.onerror = () => { lookAtMs = Math.min(lookAtMs, Date.now() + POLL_MS); };
  }

  function words() {
    const ago = Math.round((Date.now() - freshMs) / 1000);
    link.hidden = false;
    link.classList.toggle("lost", lost);
    const live = ago < 5 || stream?.readyState === EventSource.OPEN;
    const text = lost ? link.dataset.lost : live ? link.dataset.liveWords : link.dataset.ago.replace("{n}", ago);
    if (link.lastChild.textContent !== text) link.lastChild.textContent = text;
  }

  // What is not saved yet -----------------------------------------------------------------------

  const QUEUE = `waitroom:unsaved:${location.pathname}`;
  let queue = [];
  try { queue = JSON.parse(kept(sessionStorage, QUEUE) || "[]"); } catch { /* ours no more */ }
  let sending = false, tries = 0, timer = null;

  function store() { keep(sessionStorage, QUEUE, JSON.stringify(queue)); }

  function mark() {
    const late = queue.filter((one) => one.late);
    unsaved.hidden = !late.length;
    const text = late.length ? unsaved.dataset.count.replace("{n}", late.length) : "";
    if (unsaved.textContent !== text) unsaved.textContent = text;
    const busy = new Map(queue.filter((one) => one.party).map((one) => [one.party, one]));
    for (const card of document.querySelectorAll("[data-party]")) {
      const one = busy.get(card.dataset.party);
      card.classList.toggle("busy", Boolean(one));
      if (one && card.contains(document.activeElement)) card.focus({ preventScroll: true });
      for (const button of card.querySelectorAll("button")) button.disabled = Boolean(one);
      let note = card.querySelector(".wait-mark");
      if (!one?.late) { note?.remove(); continue; }
      if (!note) {
        note = document.createElement("p");
        note.className = "wait-mark";
        card.append(note);
      }
      note.textContent = `${unsaved.dataset.words}: ${one.words}`;
    }
    for (const form of document.querySelectorAll(".call form")) {
      const one = queue.find((each) => !each.party && each.url === form.action && each.type === form.elements.type.value);
      for (const button of form.querySelectorAll("button")) button.disabled = Boolean(one) || !form.closest("section").querySelector("[name=expected]");
    }
  }

  function act(form, button) {
    const data = new FormData(form, button);
    const id = data.get("party");
    if (id && queue.some((one) => one.party === id)) return;
    const op = Array.from(crypto.getRandomValues(new Uint8Array(16)), (n) => n.toString(16).padStart(2, "0")).join("");
    data.delete("op");
    data.delete("token"); // that of the page as it is when it is sent
    const wish = { op, url: form.action, body: [...data], party: id, type: data.get("type"), words: button?.textContent.trim() ?? "", late: false };
    queue.push(wish);
    store();
    setTimeout(() => { if (queue.includes(wish)) { wish.late = true; mark(); } }, SLOW_MS);
    if (form.dataset.reset !== undefined) form.reset();
    hide(alertBox);
    mark();
    send();
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

  // Returns whether to go on: the wish was saved or refused. The same key is sent until then, so
  // that what was saved while its answer got lost is not done twice.
  async function save(wish) {
    let answer, told;
    try {
      const body = new URLSearchParams(wish.body);
      body.set("token", document.body.dataset.token);
      answer = await fetch(wish.url, {
        method: "POST", body, signal: AbortSignal.timeout(8_000),
        headers: { accept: "application/json", "idempotency-key": wish.op },
      });
      if (answer.status === 401) { location.assign(door); return false; } // the queue outlives it
      if (answer.status >= 500 || answer.status === 408 || answer.status === 429) throw Error(answer.status);
      told = await answer.json().catch(() => ({}));
    } catch {
      for (const one of queue) one.late = true;
      lost = true;
      store();
      mark();
      words();
      return false;
    }
    queue = queue.filter((one) => one !== wish);
    store();
    lost = false;
    if (answer.ok) tell(told); else warn(told.said || `${answer.status}`);
    await look();
    return true;
  }

  // What is said ------------------------------------------------------------------------------

  let hideTimer = null;
  const hide = (box) => { box.hidden = true; };

  function tell({ said: text, undo }) {
    said.querySelector("span").textContent = text ?? "";
    const form = said.querySelector("form");
    if (form) {
      form.hidden = !undo;
      if (undo) for (const name of ["party", "revision"]) form.elements[name].value = undo[name];
    }
    said.hidden = !text;
    clearTimeout(hideTimer);
    hideTimer = setTimeout(() => hide(said), 12_000);
  }

  function warn(text) {
    alertBox.querySelector("span").textContent = text;
    alertBox.hidden = false;
    hide(said);
  }

  // Hands and keys ----------------------------------------------------------------------------

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post" || form.dataset.plain !== undefined) return;
    event.preventDefault();
    if (form.closest("#said")) hide(said);
    act(form, event.submitter);
  });

  document.addEventListener("click", (event) => {
    const tab = event.target.closest("[data-tab]"), step = event.target.closest("[data-step]");
    if (tab && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      choose(tab.dataset.tab);
      history.replaceState(null, "", `?type=${encodeURIComponent(shown)}`);
    }
    if (step) {
      const input = step.parentNode.querySelector("input");
      input.value = Math.min(input.max, Math.max(1, (Number.parseInt(input.value, 10) || 1) + Number(step.dataset.step)));
    }
    if (event.target.closest("[data-dismiss]")) hide(alertBox);
    const phone = event.target.closest("a.phone");
    if (phone && !phone.href.startsWith("tel:")) {
      event.preventDefault();
      reveal(phone);
    }
  });

  // The whole number, to call it, for a minute. Who looked at it stands in the party's history.
  const PHONE_MS = 60_000;
  const phones = new Map();

  async function reveal(link) {
    const id = link.closest("[data-party]").dataset.party;
    try {
      const answer = await fetch(link.href, { headers: { accept: "application/json" }, signal: AbortSignal.timeout(6_000) });
      if (!answer.ok) throw Error(answer.status);
      phones.set(id, (await answer.json()).phone);
      setTimeout(() => { phones.delete(id); look(); }, PHONE_MS);
    } catch {
      lost = true;
      words();
    }
    showPhones();
  }

  function showPhones() {
    for (const [id, phone] of phones) {
      const link = party(id)?.querySelector("a.phone");
      if (!link || !phone) continue;
      link.textContent = phone;
      link.href = `tel:${phone}`;
    }
  }

  function move(by_) {
    const cards = [...document.querySelectorAll("[data-party]")].filter((one) => one.getClientRects().length);
    const at = cards.findIndex((one) => one.contains(document.activeElement));
    const next = cards[at < 0 ? 0 : Math.min(cards.length - 1, Math.max(0, at + by_))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  }

  const DEEDS = { c: "call", s: "seat", x: "no_show", u: "undo" };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keysOn.checked || by("keys").open) return;
    // A dialog that has just closed keeps the focus until the next frame.
    if (event.target.closest("input, select, textarea") && !event.target.closest("dialog:not([open])")) return;
    if (event.key === "?") help();
    else if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "n") document.querySelector(".call:not([hidden]) .next:enabled")?.click();
    else if (DEEDS[event.key]) {
      document.activeElement?.closest("[data-party]")?.querySelector(`[name=do][value=${DEEDS[event.key]}]:enabled`)?.click();
    } else return;
    event.preventDefault();
  });

  function help() { by("keys").showModal(); }
  by("help").hidden = false;
  by("help").addEventListener("click", help);
  keysOn.checked = kept(localStorage, "waitroom:keys") !== "0";
  keysOn.addEventListener("change", () => keep(localStorage, "waitroom:keys", keysOn.checked ? "1" : "0"));
  for (const one of document.querySelectorAll("[data-step], [data-dismiss]")) one.hidden = false;
  // On a small screen the list comes first; what has ended is a tap away.
  if (matchMedia("(max-width: 63.99rem)").matches) document.querySelector("[data-key=ended]").removeAttribute("open");

  // The heart ---------------------------------------------------------------------------------

  setInterval(() => {
    if (stream?.readyState === EventSource.CLOSED) stream = null;
    if (!stream && !document.hidden) listen();
    if (Date.now() > lookAtMs && !document.hidden) look();
    words();
  }, 1_000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
  window.addEventListener("online", () => { tries = 0; send(); look(); });
  window.addEventListener("beforeunload", (event) => { if (queue.length) event.preventDefault(); });
  listen();
  words();
  mark();
  send();
})();
