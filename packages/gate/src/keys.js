// The public keys of Waitroom: kept while it is away, fetched again when old or when one is missing.

import { createLocalJWKSet } from "jose";
import { ALGORITHM } from "./passes.js";

const FRESH_MS = 3_000; // a removed key is refused after this
const PAUSE_MS = 200; // between two fetches: forgers name keys that do not exist
const REST_MS = 1_000; // after a fetch that failed
const AWAY_MS = 3_000; // after this time, and no earlier, a late Waitroom counts as away
const FEWEST_FAILURES = 3;

/** @param {import("jose").JWK[]} keys @param {unknown} issuer @returns {import("./passes.js").KeySet} */
export function keySet(keys, issuer) {
  // The key fixes the algorithm, never the pass: `none` and HMAC with a public key lead nowhere.
  const ours = keys.filter((key) => key.alg === ALGORITHM && key.kty === "EC" && key.crv === "P-256" && !("d" in key));
  // Another deployment may have the same keys, so the issuer is compared too.
  return { find: createLocalJWKSet({ keys: ours }), kids: new Set(ours.map((key) => key.kid)), issuer: typeof issuer === "string" ? issuer : undefined };
}

export class Keys {
  #remote;
  /** The known keys; replaced on every change, so that passes are verified again. */
  set = keySet([], undefined);
  #document = "";
  #fetchedAt = -Infinity;
  #triedAt = -Infinity;
  /** @type {Promise<void> | null} */
  #fetching = null;
  #failures = 0;
  #silentSince = 0;
  #away = false;

  /** @param {import("./remote.js").Remote} remote */
  constructor(remote) {
    this.#remote = remote;
  }

  /** The keys for a pass that names one of them. @param {string} kid */
  async for(kid) {
    if (this.#isOld()) {
      const fetching = this.#fetch();
      if (!this.#failures || !this.set.kids.has(kid)) await fetching; // pass holders do not wait
    }
    // A fetch under way may have started before the key existed.
    for (let tries = 0; tries < 2 && !this.set.kids.has(kid) && !this.#failures; tries++) await this.#fetch();
    return this.set;
  }

  /** Whether Waitroom is away. One late answer proves nothing: Waitroom, the network or this process may be busy. */
  async away() {
    if (this.#isOld()) await this.#fetch();
    return this.isAway;
  }

  /** The same, as far as it is known. */
  get isAway() {
    return this.#isOld() && this.#away;
  }

  #isOld() {
    return Date.now() - this.#fetchedAt > FRESH_MS;
  }

  #fetch() {
    if (this.#failures && Date.now() - this.#triedAt < REST_MS) return Promise.resolve();
    this.#fetching ??= this.#ask().finally(() => (this.#fetching = null));
    return this.#fetching;
  }

  async #ask() {
    const wait = this.#triedAt + PAUSE_MS - Date.now();
    if (wait > 0) await new Promise((done) => setTimeout(done, wait));
    this.#triedAt = Date.now();
    const outcome = await this.#remote.ask("GET", "/.well-known/jwks.json");
    const { keys, issuer } = typeof outcome !== "string" && outcome.status === 200 ? outcome.json() : { keys: undefined, issuer: undefined };
    if (!Array.isArray(keys)) return this.#failed(outcome === "down");
    const document = JSON.stringify([keys, issuer]);
    if (document !== this.#document) this.set = keySet(keys, issuer);
    this.#document = document;
    this.#fetchedAt = Date.now();
    this.#failures = 0;
    this.#away = false;
  }

  /** @param {boolean} down */
  #failed(down) {
    if (this.#failures++ === 0) this.#silentSince = this.#triedAt;
    const long = this.#failures >= FEWEST_FAILURES && Date.now() - this.#silentSince >= AWAY_MS;
    if (down || long) this.#away = true;
  }
}
