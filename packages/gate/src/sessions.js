// The sessions that a gate has seen: verify, check, renew, finish, and announce them after a loss.

import { isOver, kidOf, verified } from "./passes.js";
import { isVerdict } from "./remote.js";

/** @typedef {import("./passes.js").Pass} Pass */
/** @typedef {import("./passes.js").KeySet} KeySet */

const CHECKED_MS = 1_000; // how long a strict gate trusts a reply
const WATCH_MS = 5_000; // how often a gate checks whether a room has lost its state
const TIDY_MS = 1_000;
const RETRY_MS = 5_000;
const MOST = 20_000;
const MOST_PASSES = 50; // passes announced in one call

export class Sessions {
  #remote;
  #keys;
  #rooms;
  /** @type {Map<string, {pass: Pass, keys: KeySet}>} Passes by their text. */
  #seen = new Map();
  /** @type {Map<string, true>} Sessions that ended here. */
  #ended = new Map();
  /** @type {Map<string, true>} Sessions that Waitroom refused. */
  #refused = new Map();
  /** @type {Map<string, {until: number, good: Promise<boolean>}>} */
  #checks = new Map();
  /** @type {Map<string, {again: number, call?: Promise<void>, fresh?: Pass}>} */
  #renewals = new Map();
  /** @type {Map<string, Pass>} Passes that Waitroom does not know of yet. */
  #owed = new Map();
  #tidyAt = -Infinity;
  #watchAt = -Infinity;

  /** @param {import("./remote.js").Remote} remote @param {import("./keys.js").Keys} keys @param {string[]} rooms */
  constructor(remote, keys, rooms) {
    this.#remote = remote;
    this.#keys = keys;
    this.#rooms = rooms;
  }

  /** The pass in a text, if it is valid for a room now. @param {string} room @param {string} text @returns {Promise<Pass | undefined>} */
  async read(room, text) {
    const kid = kidOf(text);
    if (kid === undefined) return undefined;
    const keys = await this.#keys.for(kid), now = Date.now() / 1000;
    let known = this.#seen.get(text);
    if (known?.keys !== keys) {
      const pass = await verified(keys, text, now);
      if (!pass) return undefined;
      known = { pass, keys };
      put(this.#seen, text, known);
    }
    const { pass } = known;
    return pass.room !== room || isOver(pass, now) || this.#ended.has(session(pass)) ? undefined : pass;
  }

  /**
   * Whether a session is still valid. Without an answer the last refusal stands; without one, signature and end decide.
   * @param {Pass} pass
   */
  goesOn(pass) {
    const known = this.#checks.get(pass.text);
    if (known !== undefined && Date.now() < known.until) return known.good;
    const good = this.#check(pass);
    put(this.#checks, pass.text, { until: Date.now() + CHECKED_MS, good });
    return good;
  }

  /** @param {Pass} pass */
  async #check(pass) {
    if (!this.#keys.isAway) {
      const outcome = await this.#remote.ask("GET", `/v1/check?room=${encodeURIComponent(pass.room)}`, { pass: pass.text });
      if (isVerdict(outcome) && outcome.status === 204) this.#refused.delete(session(pass));
      else if (isVerdict(outcome)) put(this.#refused, session(pass), true);
    }
    return !this.#refused.has(session(pass));
  }

  /** Start to renew a session, unless that was just tried. @param {Pass} pass @returns {Promise<void> | undefined} */
  renew(pass) {
    const known = this.#renewals.get(pass.text);
    if (known !== undefined && Date.now() < known.again) return known.call;
    const renewal = { again: Date.now() + RETRY_MS, call: this.#renew(pass) };
    put(this.#renewals, pass.text, renewal);
    return renewal.call;
  }

  /** @param {Pass} pass */
  async #renew(pass) {
    const outcome = await this.#remote.ask("POST", "/v1/passes/renew", { pass: pass.text, patience: 4 });
    if (!isVerdict(outcome)) return;
    const text = outcome.json().pass;
    const fresh = typeof text === "string" && text !== pass.text ? await this.read(pass.room, text) : undefined;
    put(this.#renewals, pass.text, { again: Infinity, fresh: fresh?.sid === pass.sid ? fresh : undefined });
  }

  /** The pass that replaces this one, if any. @param {Pass} pass */
  renewed(pass) {
    return this.#renewals.get(pass.text)?.fresh;
  }

  /** End a session: here at once, at Waitroom as soon as it learns of it. @param {Pass} pass */
  finish(pass) {
    put(this.#ended, session(pass), true);
    put(this.#owed, pass.text, pass);
    return this.#tellFinished(pass);
  }

  /** @param {Pass} pass */
  async #tellFinished(pass) {
    if (isVerdict(await this.#remote.ask("POST", "/v1/passes/finish", { pass: pass.text, patience: 4 }))) this.#owed.delete(pass.text);
  }

  /** Do what is due, about once a second while requests come. */
  async tidy() {
    const now = Date.now();
    if (now < this.#tidyAt || this.#keys.isAway) return;
    this.#tidyAt = now + TIDY_MS;
    const due = [...this.#owed.values()].slice(0, MOST_PASSES).map((pass) => this.#tellFinished(pass));
    if (this.#seen.size && now >= this.#watchAt) {
      this.#watchAt = now + WATCH_MS;
      due.push(...this.#rooms.map((room) => this.#watch(room)));
    }
    await Promise.all(due);
  }

  /** Tell a Waitroom that lost its state which sessions are still valid, so that no place is given twice. @param {string} room */
  async #watch(room) {
    const outcome = await this.#remote.ask("GET", `/v1/rooms/${encodeURIComponent(room)}`, { patience: 4 });
    if (typeof outcome === "string" || outcome.status !== 200 || outcome.json().holding !== true) return;
    const texts = this.#live(room);
    for (let at = 0; at < texts.length; at += MOST_PASSES) {
      const reply = await this.#remote.ask("POST", "/v1/passes/announce", { body: { passes: texts.slice(at, at + MOST_PASSES) }, patience: 20 });
      if (!isVerdict(reply)) return; // the next check, in some seconds, tries again
    }
  }

  /** The newest pass of each session of a room. @param {string} room */
  #live(room) {
    /** @type {Map<string, Pass>} */
    const newest = new Map();
    for (const { pass } of this.#seen.values()) {
      const goes = pass.room === room && pass.sid !== "0" && pass.expires > Date.now() / 1000 && !this.#ended.has(session(pass));
      if (goes && (newest.get(pass.sid)?.expires ?? 0) < pass.expires) newest.set(pass.sid, pass);
    }
    return [...newest.values()].map((pass) => pass.text);
  }
}

/** @param {Pass} pass */
function session(pass) {
  return pass.sid === "0" ? pass.text : `${pass.room} ${pass.sid}`;
}

/** Remember an entry; the oldest are dropped if there are too many. @template V @param {Map<string, V>} map @param {string} key @param {V} value */
function put(map, key, value) {
  map.delete(key);
  map.set(key, value);
  if (map.size > MOST) {
    for (const old of map.keys()) {
      if (map.size <= MOST / 2) break;
      map.delete(old);
    }
  }
}
