// Waitroom in a browser: take a place, follow it, go in. For single-page apps; see docs/spa.md.

/**
 * @typedef {{low: number, likely: number, high: number}} Eta  seconds
 * @typedef {object} Ticket
 * @property {string} room
 * @property {string} ticket  the place itself: a secret
 * @property {"waiting" | "called" | "inside"} state
 * @property {?number} position  1 is next; null if it means nothing or is hidden
 * @property {number} waiting  how many wait in all
 * @property {?Eta} eta_s
 * @property {?("slower_admission" | "faster_admission" | "paused" | "many_left" | "restoring")} eta_reason  why that moved lately
 * @property {number} poll_after_ms
 * @property {?string} [enter_by]  of a called ticket
 * @property {?string} [session_ends_at]  of a ticket inside
 * @property {boolean} [stale]  the backend was slow, and this repeats the last answer
 * @property {string} [short_code]  of the answer to a join: a short code to quote to support
 * @property {number} [room_mark]  if it differs from the `mark` of the room as you know it, read the room again
 * @property {boolean} [restoring]  not everybody is back after a loss, so no position is shown
 * @property {string} [pass]  of a ticket inside: the proof for a gate
 */

/**
 * @typedef {object} Room
 * @property {string} room
 * @property {string} title
 * @property {?string} message  what the organiser says, plain text
 * @property {?string} message_at
 * @property {?string} ready  what to have ready
 * @property {?string} go_to  where people go once inside
 * @property {"open" | "paused" | "closed" | "ended" | "manual" | "bypass"} mode
 * @property {?string} opens_at
 * @property {?string} ends_at
 * @property {string} before_open
 * @property {number} waiting
 * @property {?Eta} eta_s  for a newcomer
 * @property {boolean} holding
 * @property {?string} footer  who the organiser is
 * @property {?string} help_link
 * @property {?string} changed_at
 * @property {number} mark
 * @property {boolean} accepts  whether a join would be accepted
 * @property {string} now
 * @property {?string} ended_text  what to say when it is over
 * @property {?string} ended_picture  what to show then
 * @property {?string} ended_link  where people may go then
 * @property {Record<string, {title?: string, message?: string, ready?: string, ended_text?: string}>} [texts]  by language
 */

/**
 * How Waitroom refuses a request (RFC 9457); docs/errors.md lists the codes.
 * @typedef {object} ProblemBody
 * @property {string} [code]
 * @property {string} [title]
 * @property {string} [detail]  one sentence for developers
 * @property {number} [status]
 * @property {string} [reason]  of a place that is gone: how it ended
 * @property {string} [retry_at]  of `enter_later`: when to try again
 * @property {{kind: string}} [challenge]  of `challenge_required`: what to solve
 */

/**
 * Callbacks, and how to follow.
 * @typedef {object} Listener
 * @property {(view: Ticket) => void} [ticket]  the place, whenever it may have changed
 * @property {(view: Room) => void} [room]  the room, likewise
 * @property {(problem: Problem) => void} [gone]  the place is lost; `problem.body.reason` says how it ended
 * @property {(problem: Problem) => void} [away]  Waitroom cannot be reached; the place is kept
 * @property {() => void} [alive]  a heartbeat: nothing is new, and Waitroom answers
 * @property {Ticket} [view]  what is known already
 * @property {number} [hiddenMs]  in a hidden tab, poll no more often
 */

/**
 * @typedef {object} Following
 * @property {() => void} stop  end the callbacks; the place is kept
 * @property {() => Promise<void>} ask  ask now
 */

/** @typedef {{code: string, expires_at: string}} Handoff  a one-time code */
/** @typedef {{solution?: string, token?: string}} Proof  a solved challenge */

const SILENCE_MS = 18_000; // a stream has a heartbeat at least every 8 s: two are missing
const FIRST_MS = 8_000; // and sends at once, unless a proxy holds it back
const ME = "/tickets/me";
const clock = () => performance.now(); // a phone that corrects its clock must not miss a poll
/** @param {number} ms */
const upTo = (ms) => Math.random() * ms; // so that not everybody comes at the same moment

/**
 * Keep a value, if there is a new one, and return what is kept; null if there is no store. Only browsers have a `window`:
 * on a server one store would be everybody's. For our own pages, too.
 * @param {"sessionStorage" | "localStorage"} store
 * @param {string} name
 * @param {string} [value]
 */
export const saved = (store, name, value) => {
  try {
    if (value !== undefined) window[store].setItem(name, value);
    return window[store].getItem(name);
  } catch { return null; } // a browser may forbid it
};

/** Why a request failed: decide by its `code`. */
export class Problem extends Error {
  /**
   * @param {number} status  0 if there was no readable answer
   * @param {ProblemBody} body
   * @param {number} [retryMs]  try again after this time
   */
  constructor(status, body, retryMs = 2_000) {
    super(body.detail);
    this.status = status;
    /** @type {string} */
    this.code = body.code ?? "unreachable";
    this.body = body;
    this.retryMs = retryMs;
  }
}

/** One person's place in one room. */
export class Waitroom {
  /** @type {string} */
  #url;
  #key = "";
  /** @type {?Proof} */
  #proof;

  /**
   * @param {string} room
   * @param {object} [options]
   * @param {string | URL} [options.base]  where Waitroom is; by default where this file came from
   * @param {boolean} [options.bearer]  keep the ticket here, not in a cookie: for another origin
   * @param {?string} [options.ticket]  an earlier ticket, with `bearer`
   * @param {(challenge: any) => Promise<Proof>} [options.solve]  how to solve a challenge; by default a proof of work is solved here
   * @param {?Proof} [options.proof]  `{solution: "?"}`: this can solve, so ask it even where the room only observes
   */
  constructor(room, { base = new URL(".", import.meta.url), bearer, ticket = null, solve = byWork, proof = null } = {}) {
    const at = new URL(base, globalThis.location?.href);
    this.#url = `${at.href.replace(/\/$/, "")}/v1/rooms/${encodeURIComponent(room)}`;
    /** @type {boolean} */
    this.bearer = bearer ?? at.origin !== globalThis.location?.origin;
    /** @type {?string} */
    this.ticket = ticket; // stays null if a cookie has it
    this.solve = solve;
    this.#proof = proof;
  }

  /**
   * Take a place, or keep the present one. A challenge that the room asks for is solved.
   * @param {object} [options]
   * @param {boolean} [options.enter]  go straight in if there is room
   * @param {string} [options.code]  an entry code, where the room needs one
   * @returns {Promise<Ticket>}
   */
  async join({ enter = false, code } = {}) {
    // It outlives a reload, so that a lost answer is asked for again.
    this.#key ||= saved("sessionStorage", this.#url) || crypto.getRandomValues(new Uint8Array(16)).join("-");
    saved("sessionStorage", this.#url, this.#key);
    for (let tries = 3; ; tries--) {
      try {
        return await this.#view("POST", "/tickets", { enter, code, ...this.#proof }, { "idempotency-key": this.#key });
      } catch (problem) {
        const { challenge } = /** @type {Problem} */ (problem).body;
        if (!challenge || !tries) throw problem;
        this.#proof = await this.solve(challenge); // kept: a room that is full is asked again
      }
    }
  }

  /** Return where the place is, and count as present. @returns {Promise<Ticket>} */
  status() { return this.#view("GET", ME); }

  /** Go inside, when called. @returns {Promise<Ticket>} */
  enter() { return this.#view("POST", `${ME}/enter`); }

  /** Extend the session. @returns {Promise<Ticket>} */
  renew() { return this.#view("POST", `${ME}/renew`); }

  /** Let some people go first. @param {number} places @returns {Promise<Ticket>} */
  defer(places) { return this.#view("POST", `${ME}/defer`, { places }); }

  /** End the session. @returns {Promise<void>} */
  finish() { return this.#call("POST", `${ME}/finish`); }

  /** Give up the place. @returns {Promise<void>} */
  leave() { return this.#call("DELETE", ME); }

  /**
   * Get a one-time code that takes the session to another host.
   * @param {?string} [browser]  the `browser` of the address to which the gate there sent this browser; needed there
   * @returns {Promise<Handoff>}
   */
  handoff(browser = null) { return this.#call("POST", `${ME}/handoff`, { browser }); }

  /** The room as anybody may see it. @returns {Promise<Room>} */
  room() { return this.#call("GET", ""); }

  /** Add a one-time code to an address. @param {string} url @param {string} code @returns {string} */
  static withCode(url, code) {
    const [main] = url.split("#"), hash = url.slice(main.length);
    return `${main}${main.includes("?") ? "&" : "?"}waitroom_code=${code}${hash}`;
  }

  /**
   * Follow the place until it is gone: live, or by polling if that fails.
   * @param {Listener} on
   * @returns {Following}
   */
  follow(on) {
    const end = new AbortController(), { signal } = end, tab = globalThis.document;
    let heardAt = 0, askAt = 0, streamAt = 0, mark = 0, misses = 0, cuts = 0, worked = false, wake = () => {};
    /** @type {?Promise<void>} */
    let asking = null;

    /**
     * @template News
     * @param {((news: News) => void) | undefined} callback  an error in it is not ours
     * @param {News} news
     */
    const tell = (callback, news) => {
      try { callback?.call(on, news); } catch (bug) { setTimeout(() => { throw bug; }); }
    };
    /** @param {Ticket} view */
    const due = (view) => {
      const ms = Math.max(1_000, view.poll_after_ms);
      heardAt = clock();
      askAt = heardAt + (tab?.hidden ? Math.max(ms * 1.5, on.hiddenMs ?? 0) : ms);
    };
    /** @param {Ticket} view */
    const hear = (view) => {
      misses = 0;
      due(view);
      if (!signal.aborted) tell(on.ticket, view);
    };
    /** @param {Room} view */
    const hearRoom = (view) => {
      mark = view.mark;
      if (!signal.aborted) tell(on.room, view);
    };
    /** @param {Problem} problem */
    const away = (problem) => {
      askAt = clock() + Math.min(30_000, (problem.retryMs ?? 2_000) * 1.5 ** misses++) + upTo(3_000);
      if (!signal.aborted) tell(on.away, problem);
    };
    /** @param {Problem} problem */
    const lost = (problem) => {
      if (!this.#over(problem) && problem.status !== 404) return away(problem);
      if (signal.aborted) return;
      end.abort();
      tell(on.gone, problem);
    };
    const asked = async () => {
      try {
        const view = await this.status();
        hear(view);
        if (on.room && view.room_mark && view.room_mark !== mark) hearRoom(await this.room());
      } catch (problem) {
        lost(/** @type {Problem} */ (problem));
      }
      asking = null;
      wake();
    };
    const ask = () => asking ??= asked(); // never two at a time

    /** @param {string} block  an event of the stream */
    const take = (block) => {
      const [, kind, data] = /^event: (\w+)\ndata: (.*)$/m.exec(block) ?? [];
      if (!kind) return misses ? undefined : tell(on.alive, undefined); // a heartbeat
      const body = JSON.parse(data);
      if (kind === "ticket") { cuts = 0; hear(this.#keep(body)); }
      if (kind === "room") hearRoom(body);
      if (kind === "away") away(new Problem(503, body));
      if (kind === "gone") lost(new Problem(body.status, body));
    };
    const listen = async () => {
      const stream = new AbortController(), stop = () => stream.abort();
      let text = "", retryMs = 0, opened = false, late = false;
      const cutIn = (/** @type {number} */ ms) => setTimeout(() => { late = true; stop(); }, ms);
      let timer = cutIn(FIRST_MS);
      signal.addEventListener("abort", stop);
      try {
        const answer = await this.#send("GET", `${ME}/events`, null, {}, stream.signal);
        const reader = /** @type {ReadableStream} */ (answer.body).pipeThrough(new TextDecoderStream()).getReader();
        for (let part; !(part = await reader.read()).done; ) {
          clearTimeout(timer);
          timer = cutIn(SILENCE_MS);
          opened = true;
          const blocks = (text + part.value).split("\n\n");
          text = blocks.pop() ?? "";
          blocks.forEach(take);
        }
      } catch (problem) {
        const { status, retryMs: later } = /** @type {Problem} */ (problem);
        if (status === 429) retryMs = later; // too many streams: we poll
        else if (status) lost(/** @type {Problem} */ (problem));
        // Silent for too long, or no connection where there was one: ask at once. If only the first event
        // is late, a proxy may hold it back: then we poll.
        else if (opened ? late : worked) askAt = 0;
      }
      clearTimeout(timer);
      worked ||= opened;
      signal.removeEventListener("abort", stop);
      stop();
      streamAt = clock() + retryMs + Math.min(60_000, 1_000 * 2 ** cuts++) * (0.5 + upTo(1));
    };
    const run = async () => {
      while (!signal.aborted) {
        const now = clock(), ms = (misses ? askAt : Math.min(askAt, streamAt)) - now;
        if (ms > 0) await new Promise((done) => { wake = () => done(undefined); setTimeout(wake, ms); });
        else if (now >= streamAt && !misses) await listen();
        else await ask();
      }
    };

    // Somebody who comes back to the page, or to the network, wants to know at once.
    const back = () => { if (!tab?.hidden && (misses || clock() - heardAt > 2_000)) void ask(); };
    tab?.addEventListener("visibilitychange", back, { signal });
    const onPage = globalThis.addEventListener; // Node has none
    for (const name of ["online", "pageshow", "focus"]) onPage?.(name, back, { signal });
    onPage?.("offline", () => away(new Problem(0, {})), { signal });
    signal.addEventListener("abort", () => wake());
    if (on.view) due(on.view);
    void run();
    return { stop: () => end.abort(), ask };
  }

  /** Forget the key if the place is gone. A 404 may say that its cookie never came. @param {{status: number}} answer */
  #over({ status }) {
    const over = [204, 410].includes(status);
    if (over) saved("sessionStorage", this.#url, this.#key = "");
    return over;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {object} [body]
   * @param {Record<string, string>} [headers]
   */
  async #view(method, path, body, headers) { return this.#keep(await this.#call(method, path, body, headers)); }

  /** @param {Ticket} view */
  #keep(view) {
    if (this.bearer) this.ticket = view.ticket; // another one, for example after going back
    return view;
  }

  /**
   * @template Answer
   * @param {string} method
   * @param {string} path
   * @param {object} [body]
   * @param {Record<string, string>} [headers]
   * @returns {Promise<Answer>}
   */
  async #call(method, path, body, headers) {
    return read(await this.#send(method, path, body, headers, AbortSignal.timeout?.(10_000)));
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {?object} [body]
   * @param {Record<string, string>} [headers]
   * @param {AbortSignal} [signal]
   */
  async #send(method, path, body, headers, signal) {
    /** @type {Record<string, string>} */
    const sent = { ...headers };
    if (this.ticket) sent.authorization = `Bearer ${this.ticket}`;
    if (body) sent["content-type"] = "application/json";
    /** @type {RequestInit} */
    const request = {
      method, signal, headers: sent, body: body && JSON.stringify(body), cache: "no-store", credentials: this.bearer ? "omit" : "include",
    };
    const answer = await fetch(this.#url + path, request).catch((error) => { throw new Problem(0, { detail: String(error) }); });
    this.#over(answer);
    if (answer.ok) return answer;
    const after = Number(answer.headers.get("retry-after")) || 2;
    throw new Problem(answer.status, await read(answer), 1000 * after);
  }
}

/** @param {any} challenge @returns {Promise<Proof>} */
async function byWork(challenge) {
  return { solution: await (await import("./work.js")).solve(challenge) };
}

/** @param {Response} answer */
async function read(answer) {
  if (answer.status === 204) return undefined;
  return answer.json().catch(() => { throw new Problem(0, { detail: "not JSON" }); });
}
