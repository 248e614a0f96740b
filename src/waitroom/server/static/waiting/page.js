// The waiting page follows one ticket: it takes a place, shows where it is, and enters on its turn.
// All of it works without this script too, by forms and reloads; the server writes the same words.
import { Problem, Waitroom, saved } from "/waitroom.js";

/** @import { Eta, Following, Room, Ticket } from "/waitroom.js" */

/**
 * What the server knows: `page.py` writes it.
 * @typedef {object} Page
 * @property {string} room
 * @property {string} title
 * @property {string} lang
 * @property {string} face  which part of the page is shown
 * @property {boolean} holds  whether there is a ticket
 * @property {number} now_ms
 * @property {?number} start  the position that the wait began with
 * @property {?number} least  the position as far as the server knows
 * @property {?number} presence_s
 * @property {?number} return_s
 * @property {?string} go_to
 * @property {boolean} [hand_off]  whether `go_to` is on another host and needs a code
 * @property {?string} browser  the mark by which a gate there knows this browser
 * @property {string} [note]
 * @property {string} [push]  the key to subscribe to push messages with, if the server sends any
 * @property {{solution: string}} [proof]  that this page can solve a challenge, if the room has one
 * @property {?Ticket} ticket
 * @property {Room} view  null while Waitroom is away, where nothing reads it
 * @property {Record<string, string & Record<string, string>>} text  a string, or one per plural category
 */

/** @type {Page} */
const page = JSON.parse(/** @type {HTMLElement} */ (document.getElementById("page")).textContent);
const place = new Waitroom(page.room, {
  base: "/", proof: page.proof, solve: (challenge) => import("/static/waiting/challenge.js").then((module) => module.solve(challenge)),
});
/** @param {string} selector @returns {NodeListOf<HTMLElement>} */
const all = (selector) => document.querySelectorAll(selector);
/** @type {Record<string, HTMLElement> & {bar: HTMLProgressElement, notify: HTMLButtonElement, sound: HTMLInputElement}} */
const parts = Object.fromEntries(Array.from(all("[data-x]"), (part) => [part.dataset.x, part]));

// Our clock is the server's: a phone that is five minutes off must not lose its turn.
const skewMs = page.now_ms - Date.now();
const now = () => Date.now() + skewMs;
/** @param {?string} [text] */
const at = (text) => (text ? Date.parse(text) : 0);
/** @param {number} ms */
const upTo = (ms) => Math.random() * ms; // so that not everybody comes at the same moment

const GRACE_MS = 5_000; // between "it is your turn" and entering by ourselves
let { face, ticket, view: room } = page;
let calledMs = 0; // when we learned of our turn
let enterAtMs = 0; // not before, if the server said so
let freshMs = now();
let ticketMs = freshMs; // when we got the ticket and its estimate
let tryAtMs = 0; // when to repeat a request that failed
/** @type {?Following} */
let following = null;
let lost = face === "away";
let busy = false;
let codeless = false; // no code was available for another host

// Words and numbers -------------------------------------------------------------------------

const lang = page.lang + "-u-nu-latn"; // the digits of our clocks
const count = new Intl.NumberFormat(lang, { useGrouping: true });
const plural = new Intl.PluralRules(lang);
/** @param {string} key @param {Record<string, string | number>} [values] */
const say = (key, values = {}) => {
  const { [key]: words } = page.text;
  /** @type {string} */
  const form = words.other ? words[plural.select(/** @type {number} */ (values.n))] ?? words.other : words;
  return form.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === "number" ? count.format(value) : value;
  });
};

/** @param {number} ms */
function time(ms) {
  const far = Math.abs(ms - now()) > 20 * 3_600_000;
  return clockTime(ms, far ? { month: "short", day: "numeric" } : {});
}

/** @param {number} ms @param {Intl.DateTimeFormatOptions} [day] */
const clockTime = (ms, day) =>
  new Intl.DateTimeFormat(lang, { ...day, hour: "numeric", minute: "2-digit" }).format(ms - skewMs);

/** @param {number} ms  "today at 6:03 PM", "on 24 December at 6:03 PM" */
function opening(ms) {
  /** @param {number} moment */
  const midnight = (moment) => new Date(moment - skewMs).setHours(0, 0, 0, 0);
  const days = Math.round((midnight(ms) - midnight(now())) / 86_400_000);
  if (days < 2) {
    const day = new Intl.RelativeTimeFormat(lang, { numeric: "auto" }).format(days, "day");
    return say("soon_day", { day, time: clockTime(ms) });
  }
  return say("soon_time", { time: clockTime(ms, { month: "long", day: "numeric" }) });
}

/** @param {number} total */
function minutes(total) {
  const h = Math.floor(total / 60), m = total % 60;
  if (!h) return say("span_m", { n: m });
  return m ? say("span_hm", { h, m }) : say("span_h", { n: h });
}

/** @param {?Eta} eta @param {number} n  the position: with many people ahead nobody believes "any moment" */
function waitWords(eta, n) {
  if (!eta) return say("wait_unknown");
  if (eta.high < 60) return say(n > 4 ? "wait_short" : "wait_soon");
  let low = Math.floor(eta.low / 60), high = Math.ceil(eta.high / 60);
  // So far above its beginning that the end says nothing.
  if (high > 30 && high > 6 * low && low < 60) return low > 1 ? say("wait_least", { n: low }) : say("wait_unknown");
  const long = high > 90;
  if (long) [low, high] = [Math.floor(low / 10) * 10, Math.ceil(high / 10) * 10];
  if (low === high || high === 1) return say("wait_about", { n: high });
  if (!low) return say("wait_up_to", { span: minutes(high) });
  if (long) return say("wait_span", { low: minutes(low), high: minutes(high) });
  return say(eta.high > 2 * eta.low ? "wait_between" : "wait_range", { low, n: high });
}

/** @param {number} n */
const two = (n) => String(n).padStart(2, "0");

/** @param {number} ms */
function clock(ms) {
  const total = Math.max(0, Math.floor(ms / 1000));
  const d = Math.floor(total / 86_400), h = Math.floor(total / 3600) % 24;
  const m = Math.floor(total / 60) % 60, s = two(total % 60);
  const short = d || h ? `${h}:${two(m)}:${s}` : `${m}:${s}`;
  return d ? `${say("days", { n: d })} ${short}` : short;
}

/** @param {string} name @param {string} text */
function write(name, text) {
  const part = parts[name];
  if (part && part.textContent !== text) part.textContent = text;
}

/** @param {string} name @param {string} text */
function writeNumber(name, text) {
  write(name, text);
  parts[name].classList.toggle("long", text.length > 5);
}

/** @param {string} text */
const tell = (text) => write("live", text); // the only live region: it is read aloud, so use it rarely

// What survives a reload: where we started and the best position shown. The number only falls:
// places that others get back after an interruption would make it rise for a moment.
const key = `waitroom:${page.room}`;
const blank = () => ({ start: 0, least: Infinity });
let memory = blank();
/** @param {string} [value] */
const kept = (value) => saved("sessionStorage", key, value);
function remember() { kept(JSON.stringify(memory)); }
function forget() {
  memory = blank();
  kept("");
}
if (page.holds) {
  try { Object.assign(memory, JSON.parse(kept() || "{}")); } catch { /* not ours */ }
  memory.start = Math.max(memory.start || 0, page.start || 0);
  memory.least = Math.min(memory.least ?? Infinity, page.least || Infinity); // JSON has no Infinity
} else forget();

// Display -----------------------------------------------------------------------------------

/** @param {string} next */
function show(next) {
  if (next === "soon" && !page.text.soon_time) return reload(); // the page brings the words
  const before = face;
  face = next;
  for (const part of all("[data-face]")) part.hidden = part.dataset.face !== face;
  for (const part of all("[data-with]")) part.hidden = !part.dataset.with?.split(" ").includes(face);
  if (parts.freedom && !ticket) parts.freedom.hidden = true;
  if (parts.banner) showTexts();
  if (face === "called" && before !== "called") turn(before);
  if (face === "ended" && before !== face) tell(headline());
  document.title = `${face === "called" ? "● " : ""}${headline()} · ${room?.title ?? page.title}`;
}

/** @param {?Room} view */
const localise = (view) => Object.assign(view ?? {}, view?.texts?.[page.lang] ?? view?.texts?.[page.lang.split("-")[0]]);
localise(room);

// The organiser's texts may change at any moment.
function showTexts() {
  for (const name of /** @type {const} */ (["title", "message", "ready", "footer"])) write(name, room[name] ?? "");
  write("said", room.message_at ? time(at(room.message_at)) : "");
  parts.banner.hidden = !room.message;
  parts.help.hidden = !room.help_link;
  parts.help.setAttribute("href", room.help_link ?? "");
  if (!room.ready) parts.have.hidden = true;
}

function headline() {
  if (face === "waiting" && memory.least < Infinity) return say("title_ahead", { n: memory.least - 1 });
  return document.querySelector("[data-face]:not([hidden]) h2")?.textContent ?? page.title;
}

/** @param {string} before */
function turn(before) {
  calledMs = before === "join" ? -Infinity : now(); // without a wait, go in at once
  const icon = /** @type {HTMLLinkElement} */ (document.querySelector("link[rel=icon]"));
  icon.href = icon.href.replace("none", "%231f9d55"); // the ring is filled
  tell(headline());
  if (parts.sound.checked) void alerts("beep");
  if (document.hidden && !pushed && Notice?.permission === "granted") {
    try { new Notice(headline(), { body: page.title, tag: key }); } catch { /* promised to nobody */ }
  }
}

function paint() {
  if (ticket && parts.defer) parts.defer.hidden = !ticket.position || ticket.position >= ticket.waiting;
  if (face === "waiting") paintWaiting();
  if (face === "soon") paintSoon();
  if (face === "called") paintCalled();
  if (face === "inside") paintInside();
  if (face === "ended") paintEnded();
  if (ticket && parts.kept && page.presence_s) {
    const until = time(freshMs + (page.presence_s + (page.return_s || 0)) * 1000);
    write("kept", say(page.return_s ? "kept_until" : "kept", { time: until }));
  }
  if (!parts.fresh) return;
  const ago = Math.round((now() - freshMs) / 1000);
  write("fresh", lost ? say("link_lost") : ago < 2 ? say("link_now") : say("link_ago", { n: ago }));
  parts.link.classList.toggle("lost", lost);
}

// While no number is sent, the last one stays.
const position = () => ticket && memory.least < Infinity ? memory.least : 0;

function paintWaiting() {
  const n = position();
  if (!ticket) return;
  const { waiting, restoring } = ticket, behind = Math.max(0, waiting - n);
  if (n) {
    writeNumber("ahead", count.format(n - 1));
    parts.bar.max = Math.max(1, memory.start - 1);
    parts.bar.value = memory.start - n;
  }
  if (n && !restoring) {
    write("place", n === 1 ? say("place_next") : say("place", { n: Math.max(n, waiting) }));
    write("behind", behind ? say("place_behind", { n: behind }) : "");
  }
  let stands = room.holding && "note_holding"; // why nobody is called at the moment
  if (room.mode === "closed") stands = "note_closed";
  if (room.mode === "paused") stands = "note_paused";
  if (restoring) stands = "note_restoring";
  const eta = stands ? null : ticket.eta_s;
  // Made before the last change, or no longer renewed.
  const old = Boolean(eta) && (lost || at(room.changed_at) > ticketMs);
  write("wait", stands ? say("wait_paused") : waitWords(eta, n));
  parts.wait.classList.toggle("old", old);
  // A clock time only if the range is narrow enough for one, and only as long as both are true.
  parts.clock.hidden = !eta || old || eta.high < 60 || eta.high > 2 * eta.low;
  if (eta) write("clock", say("wait_clock", { time: time(ticketMs + eta.likely * 1000) }));
  // Or why the wait has moved, or the answer to the last request, if it was refused.
  const note = page.text[stands || `why_${ticket.eta_reason}`] ?? page.note ?? "";
  if (note && parts.note.textContent !== note) tell(note);
  write("note", note);
  parts.note.hidden = !note;
}

function paintSoon() {
  const opens = at(room.opens_at);
  writeNumber("opens", clock(opens - now()));
  write("soon", say(opens - now() > 3_600_000 ? "soon_later" : "soon_title"));
  write("opens_at", opening(opens));
  const n = position();
  let early = ticket ? say("soon_wait") : say("soon_refuse");
  if (room.before_open === "draw") early = say("soon_draw");
  else if (n) early = say("soon_place", { n });
  write("early", early);
  parts.note.hidden = true;
}

function paintCalled() {
  const by = at(ticket?.enter_by), left = by && by - now();
  parts.left.hidden = parts.limit.hidden = !by;
  parts.endless.hidden = Boolean(by);
  if (by) writeNumber("left", clock(left));
  const wait = Math.max(calledMs + GRACE_MS, enterAtMs) - now();
  if (enterAtMs > now()) write("auto", say("called_later", { time: time(enterAtMs) }));
  else write("auto", document.hidden || wait < 0 ? "" : say("called_auto", { n: Math.ceil(wait / 1000) }));
  parts.note.hidden = true;
  // Entering in a hidden tab would let the session run out unseen.
  if (!document.hidden && now() > tryAtMs && (wait <= 0 || (by && left < 2_000))) void enter();
}

function paintInside() {
  // No destination: then back to where they came from, which the browser still knows.
  const from = parts.return && document.referrer;
  if (from && !from.startsWith(location.origin)) {
    parts.return.setAttribute("href", from);
    parts.return.hidden = false;
    write("return", new URL(from).host);
  }
  const ends = at(ticket?.session_ends_at);
  if (!ends) return;
  writeNumber("session", clock(ends - now()));
  write("ends_at", say("inside_ends", { time: time(ends) }));
  if (ends + 1_500 < now()) reload();
}

function paintEnded() {
  write("ended_text", room.ended_text || say("ended_text"));
  lead("src", "ended_picture", room.ended_picture);
  lead("href", "ended_link", room.ended_link);
  parts.note.hidden = true;
}

/** @param {string} attribute @param {string} name @param {?string} url  a large picture is not sent */
function lead(attribute, name, url) {
  const part = parts[name];
  if (!url || part.getAttribute(attribute) === url) return;
  part.setAttribute(attribute, url);
  part.hidden = false;
}

// News from the server ----------------------------------------------------------------------

/** @param {Ticket} view */
function heard(view) {
  alive();
  ticket = view;
  ticketMs = freshMs;
  void notify();
  if (view.short_code) write("code", say("code", { code: view.short_code }));
  if (view.state === "inside") return void goOn();
  if (view.position) learn(view.position, view.eta_s);
  show(view.state === "called" ? "called" : standing());
  paint();
}

/** @param {number} n @param {?Eta} eta */
function learn(n, eta) {
  memory.start = Math.max(memory.start, n);
  if (n <= memory.least / 2 || (n < memory.least && n <= 3)) {
    tell(say("live_place", { n: n - 1, wait: waitWords(eta, n) }));
  }
  memory.least = Math.min(memory.least, n);
  remember();
}

const early = () => at(room.opens_at) > now() && room.before_open !== "pass" && room.mode !== "bypass";

const standing = () => (room.mode === "ended" ? "ended" : early() ? "soon" : "waiting");

/** @param {Room} view */
function heardRoom(view) {
  alive();
  localise(view);
  const { message, go_to: before = null } = room, { go_to: target } = view;
  if (room.holding && !view.holding) asked = false;
  room = view;
  // Not if the page leads back to where its reader came from.
  if (target !== before && before === (page.go_to ?? null)) {
    const { hostname, protocol } = new URL(target ?? "", location.href);
    page.go_to = target;
    page.hand_off = hostname !== location.hostname || (protocol !== "https:" && location.protocol === "https:");
  }
  show(ticket?.state !== "waiting" ? face : standing());
  paint();
  if (view.message && view.message !== message) tell(view.message);
}

function alive() {
  if (lost) tell(say("link_now"));
  lost = false;
  freshMs = now();
  tryAtMs = 0;
}

/** @param {{retryMs?: number}} problem */
function away({ retryMs = 2_000 }) {
  if (!lost) tell(say("link_lost"));
  asked = false;
  lost = true;
  tryAtMs = now() + retryMs + upTo(3_000);
  paint();
}

function reload() {
  if (busy) return;
  busy = true;
  following?.stop();
  setTimeout(() => location.reload(), 200 + upTo(1_000));
}

function gone() {
  following = null; // while we are busy with something else, a reload has to wait
  reload();
}

/** @param {() => Promise<?(() => unknown)>} work  returns what to do next, when other work may begin */
async function once(work) {
  if (busy) return;
  busy = true;
  let then = null;
  try { then = await work(); } catch (error) { away(/** @type {Problem} */ (error)); }
  busy = false;
  then?.();
}

/** @param {unknown} error @returns {Problem}  an answer that refuses; `once` handles a missing answer */
function refusal(error) {
  if (!(error instanceof Problem) || !error.status || error.status >= 500 || error.code === "too_many_requests") throw error;
  return error;
}

/** @type {Record<string, string>} */
const FACES = { room_full: "full", room_closed: "closed", room_ended: "ended", room_not_open: "soon" };

const join = () => once(async () => {
  try {
    const view = await place.join();
    return () => { forget(); heard(view); };
  } catch (error) {
    const next = FACES[refusal(error).code];
    heardRoom(await place.room());
    tryAtMs = now() + (face === "soon" ? upTo(3_000) : 10_000 + upTo(20_000));
    return face !== next ? reload : null;
  }
});

// Before the opening, without a place: read the organiser's texts.
const lookAgain = () => { tryAtMs = Math.min(now() + 20_000 + upTo(20_000), at(room.opens_at) + upTo(2_000)); };
const lookAtRoom = () => once(async () => {
  heardRoom(await place.room());
  lookAgain();
  return null;
});

const look = () => once(async () => {
  await place.status().catch(refusal);
  return reload; // gone, or back: the server has the words for it
});

const enter = () => once(async () => {
  try {
    const entered = await place.enter();
    // So that the page can later say that the session is over, not the turn.
    const [prefix, secure] = location.protocol === "https:" ? ["__Host-", "; secure"] : ["", ""];
    document.cookie = `${prefix}waitroom-inside-${page.room}=${entered.ticket.slice(-8)}; path=/; max-age=86400; samesite=lax${secure}`;
    return goOn;
  } catch (error) {
    const { code, body } = refusal(error);
    if (code !== "enter_later") return reload;
    enterAtMs = at(body.retry_at) + upTo(500);
    return null;
  }
});

function goOn() {
  const { go_to: target, hand_off: codeNeeded } = page;
  if (!target) return reload();
  return once(async () => {
    // Without a mark a gate there would not take a code: it would send this browser here again, with one.
    const url = codeNeeded && page.browser ? await withCode(target, page.browser) : target;
    // Replaces this page: "back" should lead neither to it nor to the code.
    return () => { busy = true; following?.stop(); location.replace(url); };
  });
}

/** @param {string} url @param {string} browser */
async function withCode(url, browser) {
  try {
    return Waitroom.withCode(url, (await place.handoff(browser)).code);
  } catch (error) {
    if (codeless) return url; // let the other side decide; it may let people in meanwhile
    codeless = true;
    throw error;
  }
}

// Actions -----------------------------------------------------------------------------------

/** @param {"beep" | "notify"} act  sound and notifications are loaded when the reader first wants them */
const alerts = (act) => import("/static/waiting/alerts.js").then((module) => module[act](page, parts.notify, alone)).catch(() => false);
const { Notification: Notice } = window;
let pushed = false; // whether the server notifies a closed tab too
let asked = false; // whether we asked it to; after a loss we ask again

async function notify() {
  if (asked || !ticket || !Notice || Notice.permission === "default") return;
  asked = true;
  pushed = await alerts("notify");
}

/** Whether the page itself can notify as long as it is open: on Android this throws. */
function notifies() {
  try {
    return Notice.permission !== "default" || Boolean(new Notice(""));
  } catch { return false; }
}
const alone = Boolean(Notice) && notifies();

document.addEventListener("submit", (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target), act = form.action.split("/").pop();
  event.preventDefault();
  if (act === "enter") return void enter();
  if (act === "join" || (act === "defer" && !ticket?.restoring)) forget();
  // The answer leads back here; a lost network must not replace this page with the browser's own.
  void once(async () => {
    // Where the room asks for a challenge too, it is solved here; the form shows how that went.
    if (page.proof && form.code) await place.join({ code: form.code.value }).catch(refusal);
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(/** @type {[string, string][]} */ ([...new FormData(form)])) });
    if (answer.status >= 500) throw Error();
    return () => location.assign(answer.url);
  });
});

if (parts.choices) {
  parts.choices.hidden = false;
  parts.sound.checked = saved("localStorage", "waitroom:sound") === "1";
  parts.sound.addEventListener("change", () => {
    saved("localStorage", "waitroom:sound", parts.sound.checked ? "1" : "0");
    if (parts.sound.checked) void alerts("beep"); // how it will sound; a click also allows sound later
  });
  parts.notify.addEventListener("click", async () => { await Notice.requestPermission(); void notify(); });
  // No promise that cannot be kept.
  parts.notify.hidden = !alone && !(Notice && page.push && window.PushManager && navigator.serviceWorker);
}

// The main loop: once a second, and whenever the page becomes visible ------------------------------

function beat() {
  const mayTry = now() > tryAtMs;
  if (ticket && ["waiting", "soon", "called", "ended"].includes(face)) {
    following ??= place.follow({ ticket: heard, room: heardRoom, gone, away, alive, view: ticket, hiddenMs });
    if (face === "soon" && !early()) {
      show("waiting");
      setTimeout(following.ask, upTo(Math.min(15_000, 2_000 + ticket.waiting / 20))); // not all at once
    }
  } else if (face === "away") {
    if (mayTry) void look();
  } else if (face === "soon" && early()) {
    if (mayTry) void lookAtRoom();
  } else if (face === "soon" || face === "join" || face === "full" || face === "closed") {
    if (mayTry) void join();
  }
  paint();
}

// A hidden page may poll less often, but often enough to count as present.
const hiddenMs = Math.min(45_000, (page.presence_s || 120) * 300);

function start() {
  if (parts.joining) {
    parts.joining.hidden = false;
    parts.joining.parentElement?.querySelector("form")?.setAttribute("hidden", "");
  }
  if (face === "full" || face === "closed") tryAtMs = now() + 10_000 + upTo(10_000);
  if (face === "soon" && !ticket) lookAgain();
  if (face === "away") tryAtMs = now() + 2_000 + upTo(2_000);
  if (ticket && face === "waiting" && ticket.position) learn(ticket.position, ticket.eta_s);
  show(face);
  if (face === "called") turn("waiting");
  // A gate has sent us back for a code. Not again at once: if its cookie is not kept, the reader decides.
  if (face === "inside" && page.browser && now() - Number(saved("sessionStorage", "sent")) > 60_000) {
    saved("sessionStorage", "sent", `${now()}`);
    void goOn();
  }
  setInterval(beat, 1_000);
  document.addEventListener("visibilitychange", beat);
  beat();
}

// A page that a browser prerenders before a click takes no place.
if (/** @type {Document & {prerendering?: boolean}} */ (document).prerendering) document.addEventListener("prerenderingchange", start, { once: true });
else start();
