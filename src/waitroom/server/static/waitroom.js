// Waitroom in a browser: take a place, follow it, go in. For single-page apps; see docs/spa.md.

/**
 * @typedef {{low: number, likely: number, high: number}} Eta  seconds
 * @typedef {object} Ticket
 * @property {string} room
 * @property {string} ticket  the place itself: a secret
 * @property {"waiting" | "called" | "inside"} state
 * @property {?number} position  1 is next; null where it means nothing
 * @property {number} waiting  how many wait in all
 * @property {?Eta} eta_s
 * @property {number} poll_after_ms
 * @property {?string} [enter_by]  of a called ticket
 * @property {?string} [session_ends_at]  of a ticket inside
 * @property {string} [pass]  of a ticket inside: the proof for a gate
 */

/**
 * @typedef {object} Room
 * @property {string} room
 * @property {string} title
 * @property {"open" | "paused" | "closed" | "manual" | "bypass"} mode
 * @property {?string} opens_at
 * @property {string} before_open
 * @property {number} waiting
 * @property {?Eta} eta_s  for a newcomer
 * @property {boolean} holding
 * @property {?string} changed_at
 * @property {boolean} accepts  whether a join would be taken
 * @property {string} now
 */

/**
 * What to do with what is heard, and how to listen.
 * @typedef {object} Listener
 * @property {(view: Ticket) => void} [ticket]  the place, whenever it may have changed
 * @property {(view: Room) => void} [room]  the room, likewise
 * @property {(why: Problem) => void} [gone]  the place is no more; `why.reason` says how it ended
 * @property {(why: Problem) => void} [away]  Waitroom cannot be reached; the place is kept
 * @property {Ticket} [view]  what is known already
 * @property {number} [hiddenMs]  in a hidden tab, poll no more often
 */

const SILENCE_MS = 25_000; // a stream has a heartbeat every 15 s at the latest
const FIRST_MS = 8_000; // and speaks at once, unless a proxy holds it back
const LONGEST_MS = 30_000;
const some = (ms) => Math.random() * ms;

/** Why a call was not answered as hoped: decide by its `code`. */
export class Problem extends Error {
  /**
   * @param {number} status  0 if there was no answer at all
   * @param {Record<string, any>} body  the problem document
   * @param {number} [retryMs]  try again after so long
   */
  constructor(status, body, retryMs = 2_000) {
    super(body.detail);
    this.status = status;
    /** @type {string} */
    this.code = body.code ?? "unreachable";
    /** @type {string | undefined} */
    this.reason = body.reason;
    this.body = body;
    this.retryMs = retryMs;
  }
}

/** One person's place in one room. */
export class Waitroom {
  #tickets;
  #room;
  #bearer;
  #key = Array.from(crypto.getRandomValues(new Uint32Array(5)), (n) => n.toString(36).padStart(7, "0")).join("");

  /**
   * @param {string} room
   * @param {object} [options]
   * @param {string | URL} [options.base]  where Waitroom is; by default where this file came from
   * @param {boolean} [options.bearer]  keep the ticket here rather than in a cookie: for another origin
   * @param {?string} [options.ticket]  one from before, with `bearer`
   */
  constructor(room, { base = new URL(".", import.meta.url), bearer, ticket = null } = {}) {
    const whole = new URL(base, globalThis.location?.href).href.replace(/\/$/, "");
    this.#room = `${whole}/v1/rooms/${encodeURIComponent(room)}`;
    this.#tickets = `${this.#room}/tickets`;
    this.#bearer = bearer ?? new URL(whole).origin !== globalThis.location?.origin;
    /** @type {?string} */
    this.ticket = ticket; // stays null where a cookie has it
  }

  /** Take a place, or keep the one held; `enter` goes straight in if there is room. @returns {Promise<Ticket>} */
  join({ enter = false } = {}) {
    return this.#view("POST", "", enter ? { enter } : undefined, { "idempotency-key": this.#key });
  }

  /** Where the place is, and a sign that its holder is there. @returns {Promise<Ticket>} */
  status() { return this.#view("GET", "/me"); }

  /** Go inside, when called. @returns {Promise<Ticket>} */
  enter() { return this.#view("POST", "/me/enter"); }

  /** Extend the session. @returns {Promise<Ticket>} */
  renew() { return this.#view("POST", "/me/renew"); }

  /** Let some people go first. @param {number} places @returns {Promise<Ticket>} */
  defer(places) { return this.#view("POST", "/me/defer", { places }); }

  /** End the session. @returns {Promise<void>} */
  async finish() { await this.#call("POST", "/me/finish"); }

  /** Give up the place. @returns {Promise<void>} */
  async leave() { await this.#call("DELETE", "/me"); }

  /** A one-time code that takes the session to another host. @returns {Promise<{code: string, expires_at: string}>} */
  handoff() { return this.#call("POST", "/me/handoff"); }

  /** The room as anybody may see it. @returns {Promise<Room>} */
  room() { return this.#call("GET", this.#room); }

  /**
   * Follow the place until it is gone: live, or by polling where that fails.
   * @param {Listener} on
   * @returns {{stop: () => void, ask: () => Promise<void>}}
   */
  follow(on) {
    const end = new AbortController(), { signal } = end;
    let heardAt = 0, askAt = 0, streamAt = 0, misses = 0, cuts = 0, asking = false, wake = () => {};

    const due = (view) => {
      heardAt = Date.now();
      const ms = view.poll_after_ms;
      askAt = heardAt + (globalThis.document?.hidden ? Math.max(ms * 1.5, on.hiddenMs ?? 0) : ms);
    };
    const hear = (view) => {
      due(view);
      misses = 0;
      if (!signal.aborted) on.ticket?.(view);
    };
    const away = (why) => {
      askAt = Date.now() + Math.min(LONGEST_MS, why.retryMs * 1.5 ** misses++) + some(3_000);
      if (!signal.aborted) on.away?.(why);
    };
    const lost = (why) => {
      if (signal.aborted) return;
      if (why.code === "unreachable" || ![404, 410].includes(why.status)) return away(why);
      end.abort();
      on.gone?.(why);
    };
    const ask = async () => {
      if (asking || signal.aborted) return;
      asking = true;
      try {
        hear(await this.status());
        if (on.room && !signal.aborted) on.room(await this.room());
      } catch (why) {
        lost(why);
      }
      asking = false;
      wake();
    };

    const take = (block) => {
      const [, kind, data] = /^event: (\w+)\ndata: (.*)$/m.exec(block) ?? [];
      if (!kind) return; // a heartbeat
      const body = JSON.parse(data);
      if (kind === "ticket") { cuts = 0; hear(this.#hold(body)); }
      if (kind === "room") on.room?.(body);
      if (kind === "away") away(new Problem(503, body));
      if (kind === "gone") lost(new Problem(body.status, body));
      if (kind === "reconnect") streamAt = Date.now() + some(1_000);
    };
    const listen = async () => {
      const stream = new AbortController(), stop = () => stream.abort();
      let timer = setTimeout(stop, FIRST_MS), text = "";
      signal.addEventListener("abort", stop);
      streamAt = Date.now() + Math.min(60_000, 2_000 * 2 ** cuts++) + some(2_000);
      try {
        const answer = await this.#send("GET", "/me/events", undefined, {}, stream.signal);
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        for (let part; !(part = await reader.read()).done && !signal.aborted; ) {
          clearTimeout(timer);
          timer = setTimeout(stop, SILENCE_MS);
          const blocks = (text + part.value).split("\n\n");
          text = blocks.pop();
          blocks.forEach(take);
        }
      } catch (why) {
        if (why.status) why.status === 429 ? streamAt += why.retryMs : lost(why);
      }
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      stop();
    };
    const run = async () => {
      while (!signal.aborted) {
        const now = Date.now();
        if (now >= streamAt && !misses) await listen();
        else if (now >= askAt) await ask();
        else await new Promise((done) => { wake = done; setTimeout(done, (misses ? askAt : Math.min(askAt, streamAt)) - now); });
      }
    };

    // Whoever comes back to the page, or to the network, wants to know at once.
    const back = () => { if (!globalThis.document?.hidden && (misses || Date.now() - heardAt > 2_000)) ask(); };
    globalThis.document?.addEventListener("visibilitychange", back, { signal });
    for (const name of ["online", "pageshow", "focus"]) globalThis.addEventListener?.(name, back, { signal });
    globalThis.addEventListener?.("offline", () => away(new Problem(0, {})), { signal });
    signal.addEventListener("abort", () => wake());
    if (on.view) due(on.view);
    run();
    return { stop: () => end.abort(), ask };
  }

  /** @returns {Promise<Ticket>} */
  async #view(method, path, body, headers) { return this.#hold(await this.#call(method, path, body, headers)); }

  #hold(view) {
    if (this.#bearer && view.ticket) this.ticket = view.ticket; // a renewed or deferred one may differ
    return view;
  }

  async #call(method, path, body, headers) {
    const answer = await this.#send(method, path, body, headers, AbortSignal.timeout?.(10_000));
    return answer.status === 204 ? undefined : this.#read(answer);
  }

  async #read(answer) {
    try { return await answer.json(); } catch { throw new Problem(0, { detail: "the answer cannot be read" }); }
  }

  async #send(method, path, body, headers = {}, signal) {
    const sent = { method, headers: { ...headers }, signal, cache: "no-store", credentials: this.#bearer ? "omit" : "same-origin" };
    if (this.#bearer && this.ticket) sent.headers.authorization = `Bearer ${this.ticket}`;
    if (body) Object.assign(sent, { body: JSON.stringify(body) }).headers["content-type"] = "application/json";
    let answer;
    try { answer = await fetch(path.startsWith("/") || !path ? this.#tickets + path : path, sent); } catch (why) { throw new Problem(0, { detail: String(why) }); }
    if (answer.ok) return answer;
    const after = Number(answer.headers.get("retry-after"));
    throw new Problem(answer.status, await this.#read(answer), after ? 1000 * after : undefined);
  }
}
