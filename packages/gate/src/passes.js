// Which text is a pass: signature, kind, issuer, room and end.

import { base64url, compactVerify, decodeProtectedHeader } from "jose";

/**
 * @typedef {object} Pass
 * @property {string} room
 * @property {string} ticketId
 * @property {string} sid       the session; "0" if there is none
 * @property {number} expires   in seconds
 * @property {number} half      when half of the session is over, in seconds
 * @property {string} kid
 * @property {string} text
 */
/** @typedef {{find: import("jose").CompactVerifyGetKey, kids: Set<string | undefined>, issuer?: string}} KeySet */

export const ALGORITHM = "ES256"; // Waitroom's default; use the value of your `pass_algorithm`
const TYPE = "waitroom-pass+jwt";
const LEEWAY_S = 5;
const LONGEST = 2_048;

/** The key that a text names, if it looks like a pass; a site's own JWT does not. @param {string} text */
export function kidOf(text) {
  try {
    if (text.length > LONGEST || !text.split(".").every(canonical)) return undefined;
    const { alg, kid, typ, ...more } = decodeProtectedHeader(text);
    // The key fixes the algorithm; what a pass claims is only compared.
    return alg === ALGORITHM && typ === TYPE && typeof kid === "string" && !Object.keys(more).length ? kid : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The pass in a text whose `kidOf` is known, at a moment; undefined if there is none.
 * @param {KeySet} keys
 * @param {string} text
 * @param {number} now  in seconds
 * @returns {Promise<Pass | undefined>}
 */
export async function verified(keys, text, now) {
  const kid = kidOf(text);
  if (kid === undefined || !keys.kids.has(kid)) return undefined;
  try {
    const { payload } = await compactVerify(text, keys.find, { algorithms: [ALGORITHM] });
    const { iss, aud, sub, jti, iat, exp, nbf = iat } = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload));
    if (typeof iss !== "string" || (keys.issuer !== undefined && iss !== keys.issuer)) return undefined;
    if (!isWord(aud, /^[A-Za-z0-9][\w.-]{0,63}$/) || !isWord(sub, /^[\w-]{1,64}$/) || !isWord(jti, /^[0-9]{1,20}$/)) return undefined;
    if (![iat, exp, nbf].every(Number.isSafeInteger)) return undefined;
    const half = (iat + exp) / 2;
    /** @type {Pass} */
    const pass = { room: aud, ticketId: sub, sid: String(BigInt(jti)), expires: exp, half, kid, text };
    return Math.max(iat, nbf) > now + LEEWAY_S || isOver(pass, now) ? undefined : pass;
  } catch {
    return undefined; // whatever is wrong with it
  }
}

/** @param {Pass} pass @param {number} now */
export function isOver(pass, now) {
  return now >= pass.expires + LEEWAY_S;
}

/** The last character has spare bits, which would allow several spellings of one pass. @param {string} part */
function canonical(part) {
  return part !== "" && base64url.encode(base64url.decode(part)) === part;
}

/** @param {unknown} value @param {RegExp} shape */
function isWord(value, shape) {
  return typeof value === "string" && shape.test(value);
}
