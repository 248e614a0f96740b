// Solves the proof of work that a room may ask of newcomers (ALTCHA's format, version 2), with the browser's own crypto.
// Loaded when a room asks. The waiting page runs this same file as a worker; apps import it.

/**
 * @typedef {object} Challenge  what a problem `challenge_required` holds
 * @property {string} kind  `work`; of other kinds an app knows itself what to do
 * @property {{nonce: string, salt: string, cost: number, keyLength: number, keyPrefix: string, data: {counters: number}}} parameters
 * @property {string} signature
 */

const AT_ONCE = 64; // so many counters are handed to the browser's crypto together: a third faster than one by one
const WORKER = "waitroom-work"; // the name of a worker that runs this file

/** @param {string} hex */
const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
/** @param {Uint8Array} raw */
const hexOf = (raw) => Array.from(raw, (byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * Find the counter, and return what a join takes as `solution`.
 * @param {Challenge} challenge
 * @param {(share: number) => void} [told]  how much of the range was tried, 0 to 1
 * @returns {Promise<string>}
 */
export async function solve({ parameters, signature }, told) {
  const { nonce, salt, cost, keyLength, keyPrefix, data } = parameters;
  const head = bytes(nonce), prefix = bytes(keyPrefix);
  const how = { name: "PBKDF2", hash: "SHA-256", salt: bytes(salt), iterations: cost };
  /** @param {number} counter */
  const derive = async (counter) => {
    const password = new Uint8Array(head.length + 4);
    password.set(head);
    new DataView(password.buffer).setUint32(head.length, counter);
    const key = await crypto.subtle.importKey("raw", password, "PBKDF2", false, ["deriveBits"]);
    return new Uint8Array(await crypto.subtle.deriveBits(how, key, 8 * keyLength));
  };
  for (let from = 0; from < data.counters; from += AT_ONCE) {
    const keys = await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => derive(from + n)));
    const found = keys.findIndex((key) => prefix.every((byte, n) => byte === key[n]));
    told?.(Math.min(1, (from + AT_ONCE) / data.counters));
    if (found < 0) continue;
    const solution = { counter: from + found, derivedKey: hexOf(keys[found]) };
    return btoa(JSON.stringify({ challenge: { parameters, signature }, solution }));
  }
  throw Error("no counter solves this challenge");
}

const worker = /** @type {any} */ (globalThis); // the types are those of a page
if (worker.name === WORKER && !worker.document) {
  worker.onmessage = async (/** @type {{data: Challenge}} */ { data }) => {
    try {
      worker.postMessage({ solution: await solve(data, (share) => worker.postMessage({ share })) });
    } catch (error) {
      worker.postMessage({ error: String(error) });
    }
  };
}
