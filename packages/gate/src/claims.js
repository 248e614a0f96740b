// Who somebody is: the account of a user in a room, and claims that Waitroom believes. docs/gate-contract.md has the bytes.

import { base64url } from "jose";

const PREFIX = "wrc_";
const LIFE_S = 45;
const KEY_SIZE = 53;
const HEAD_SIZE = 45;
const MAC_SIZE = 16;
const SALT_SIZE = 16;
const ACCOUNT_SIZE = 12;
const LONGEST_USER = 1_024;
const text = new TextEncoder();
const FINGERPRINT = text.encode("fingerprint");

/**
 * The id of a user as text; undefined is nobody. Anything but an id is refused: all users would share the account "[object Object]".
 * @param {unknown} user  what the site's `identity` returned
 */
export function userId(user) {
  if (user === null || user === undefined || user === false || user === "") return undefined;
  if (typeof user === "string" || typeof user === "bigint" || Number.isSafeInteger(user)) return String(user);
  throw new TypeError(`identity returned ${typeof user}, not a user's id; return a string, a whole number (a bigint beyond 2^53), or undefined for nobody`);
}

/** A claim key of a room, as `waitroom claim-key` prints it. */
export class ClaimKey {
  #head;
  #salt;
  #key;

  /** @param {string} printed */
  constructor(printed) {
    const raw = read(printed);
    if (raw === undefined) throw new TypeError("claimKey is not a claim key; make one with `waitroom claim-key ROOM`");
    this.#head = raw.slice(0, 5); // version and key id: a claim begins with the same bytes
    this.#salt = hmacKey(raw.slice(5, 21));
    this.#key = hmacKey(raw.slice(21));
  }

  /** The account of a user of this site, which is the `sub` of their pass. @param {string} room @param {string} user */
  async account(room, user) {
    const length = [...user].length;
    if (!length || length > LONGEST_USER) throw new TypeError(`identity must be 1 to ${LONGEST_USER} characters`);
    return base64url.encode((await hmac(this.#salt, text.encode(`account:${room}\0${user}`))).slice(0, ACCOUNT_SIZE));
  }

  /**
   * @param {string} room
   * @param {string} account
   * @param {number} now  in seconds
   * @param {Uint8Array} [nonce]  8 bytes; drawn at random
   */
  async claim(room, account, now, nonce = crypto.getRandomValues(new Uint8Array(8))) {
    const name = text.encode(room), head = new Uint8Array(HEAD_SIZE + name.length), view = new DataView(head.buffer);
    head.set(this.#head);
    // Never the salt itself: with it, whoever reads a claim could try user ids.
    head.set((await hmac(this.#salt, FINGERPRINT)).slice(0, SALT_SIZE), 5);
    view.setUint32(21, Math.floor(now) + LIFE_S);
    head.set(nonce, 25);
    head.set(base64url.decode(account), 33);
    head.set(name, HEAD_SIZE);
    const claim = new Uint8Array(head.length + MAC_SIZE);
    claim.set(head);
    claim.set((await hmac(this.#key, head)).slice(0, MAC_SIZE), head.length);
    return base64url.encode(claim);
  }
}

/** @param {unknown} printed */
function read(printed) {
  if (typeof printed !== "string" || !printed.startsWith(PREFIX)) return undefined;
  const body = printed.slice(PREFIX.length);
  try {
    const raw = base64url.decode(body);
    return raw.length === KEY_SIZE && raw[0] === 1 && base64url.encode(raw) === body ? raw : undefined;
  } catch {
    return undefined;
  }
}

/** Imported when it is first used: a Worker may not do that before its first request. @param {Uint8Array} raw */
function hmacKey(raw) {
  /** @type {Promise<CryptoKey> | undefined} */
  let key;
  return () => (key ??= crypto.subtle.importKey("raw", new Uint8Array(raw), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]));
}

/** @param {() => Promise<CryptoKey>} key @param {Uint8Array} data */
async function hmac(key, data) {
  return new Uint8Array(await crypto.subtle.sign("HMAC", await key(), new Uint8Array(data)));
}
