// A gate for Node and Next.js: who shows a good pass goes on, everybody else waits.
//
// Passes are checked here, with the keys that Waitroom publishes: a request costs no call. Only the
// Web's own Request and Response are used, so it runs in Next.js, on Node, and on edge runtimes.
//
//   const gate = waitroom({ url, site: "https://tickets.example", rules: { "/concert": "concert" } });
//   const answer = await gate(request);   // undefined: go on

import { base64url, createLocalJWKSet, decodeProtectedHeader, jwtVerify } from "jose";

/** @typedef {{parts: string[], room: string}} Rule  a path, in segments, and its room */

const ALGORITHM = "ES256"; // Waitroom's default; the one that your `pass_algorithm` says
const TYPE = "waitroom-pass+jwt";
const FRESH_MS = 3_000; // a key that was taken away is refused after this
const PAUSE_MS = 200; // between two fetches: forgers name keys that nobody has
const REST_MS = 1_000; // after a fetch that failed
const AWAY_MS = 3_000; // a Waitroom that is only late is away after so long, and no earlier
const FEWEST_FAILURES = 3;
const DEADLINE_MS = Number(process.env.WAITROOM_DEADLINE_MS ?? 250);
const CODE = "waitroom_code";
/** The Web's own, which the types of Node 18 do not name. */
const { crypto } = /** @type {{crypto: import("node:crypto").webcrypto.Crypto}} */ (/** @type {unknown} */ (globalThis));

/**
 * @param {object} options
 * @param {string} options.url        Waitroom, as this server reaches it
 * @param {string} [options.publicUrl] Waitroom, as browsers reach it
 * @param {string} options.site       the origin of this site: people are sent back there, whatever Host says
 * @param {Record<string, string>} options.rules  path to room; the longest that fits counts
 * @param {"closed" | "open"} [options.whenAway]  for newcomers, while Waitroom cannot be reached
 * @returns {(request: Request, rawPath?: string) => Promise<Response | undefined>}
 */
export function waitroom({ url, publicUrl = url, site, rules, whenAway = "closed" }) {
  const origin = new URL(site).origin;
  const keys = new Keys(new URL("/.well-known/jwks.json", url));
  const ordered = Object.entries(rules)
    .map(([path, room]) => ({ parts: segments(folded(path)), room }))
    .sort((a, b) => b.parts.length - a.parts.length);

  return async function gate(request, rawPath) {
    const at = new URL(request.url);
    const room = roomOf(ordered, rawPath ?? at.pathname);
    const safe = request.method === "GET" || request.method === "HEAD";
    if (room === null) return problem(400, "unreadable_path", "the path can be read in more ways than one");
    if (room === undefined) return undefined;
    if (safe && at.searchParams.has(CODE)) return redeemed(url, keys, origin, at, secretOf(request, origin));
    for (const text of shown(request, room)) {
      if (await good(keys, room, text)) return undefined;
    }
    if (await keys.away()) return whenAway === "open" ? undefined : away(request);
    const back = safe ? origin + at.pathname + at.search : origin + "/";
    const page = `${publicUrl}/rooms/${room}?return=${encodeURIComponent(back)}`;
    if (!isProgram(request)) return await waitingPage(page, origin, secretOf(request, origin));
    const join = `${publicUrl}/v1/rooms/${room}/tickets`;
    return problem(429, "waiting", "this needs a pass: join the room, then send it as Waitroom-Pass", { room, join, url: page });
  };
}

/** The public keys of Waitroom: kept while it is away, fetched again when old or when one is missing. */
class Keys {
  #url;
  /** @type {string | undefined} Who lets in: another deployment may have the same keys. */
  issuer;
  /** @type {Set<string | undefined>} */
  #known = new Set();
  /** @type {?ReturnType<typeof createLocalJWKSet>} */
  #find = null;
  #fetchedAt = -Infinity;
  #triedAt = -Infinity;
  /** @type {?Promise<unknown>} */
  #fetching = null;
  #failures = 0;
  #silentSince = 0;
  #away = false;

  /** @param {URL} url */
  constructor(url) {
    this.#url = url;
  }

  /** The function that jose asks for a key, or null if we do not have it. @param {string} kid */
  async of(kid) {
    if (this.#isOld()) {
      const fetching = this.#fetch();
      if (!this.#failures || !this.#known.has(kid)) await fetching; // who has a pass waits for nothing
    }
    // A fetch under way may have begun before the key was there.
    for (let tries = 0; tries < 2 && !this.#known.has(kid) && !this.#failures; tries++) await this.#fetch();
    return this.#known.has(kid) ? this.#find : null;
  }

  /** Whether nobody is there. One late answer says nothing: Waitroom, the network or this process may be busy. */
  async away() {
    if (this.#isOld()) await this.#fetch();
    return this.#isOld() && this.#away;
  }

  #isOld() {
    return Date.now() - this.#fetchedAt > FRESH_MS;
  }

  #fetch() {
    if (this.#failures && Date.now() - this.#triedAt < REST_MS) return Promise.resolve();
    this.#fetching ??= this.#ask()
      .then(() => this.#answered(), (error) => this.#failed(error))
      .finally(() => (this.#fetching = null));
    return this.#fetching;
  }

  #answered() {
    this.#failures = 0;
    this.#away = false;
  }

  /** @param {Error} error */
  #failed(error) {
    if (this.#failures++ === 0) this.#silentSince = this.#triedAt;
    const long = this.#failures >= FEWEST_FAILURES && Date.now() - this.#silentSince >= AWAY_MS;
    if (error.name !== "TimeoutError" || long) this.#away = true;
  }

  async #ask() {
    const wait = this.#triedAt + PAUSE_MS - Date.now();
    if (wait > 0) await new Promise((done) => setTimeout(done, wait));
    this.#triedAt = Date.now();
    const answer = await fetch(this.#url, { signal: AbortSignal.timeout(DEADLINE_MS), redirect: "error" });
    if (!answer.ok) throw new Error(`keys: ${answer.status}`);
    const { keys, issuer } = /** @type {{keys: import("jose").JWK[], issuer?: string}} */ (await answer.json());
    // The key fixes the algorithm, never the pass: `none` and HMAC with a public key lead nowhere.
    const ours = keys.filter((key) => key.alg === ALGORITHM && key.kty === "EC" && key.crv === "P-256");
    this.#find = createLocalJWKSet({ keys: ours });
    this.#known = new Set(ours.map((key) => key.kid));
    this.issuer = issuer;
    this.#fetchedAt = Date.now();
  }
}

/**
 * Whether a text is a pass of this room: signature, kind, issuer, room and end.
 * @param {Keys} keys
 * @param {string} room
 * @param {string} text
 */
async function good(keys, room, text) {
  try {
    if (text.length > 2048 || !text.split(".").every(canonical)) return false;
    const { kid } = decodeProtectedHeader(text);
    const find = typeof kid === "string" ? await keys.of(kid) : null;
    if (find === null) return false;
    const { payload } = await jwtVerify(text, find, {
      algorithms: [ALGORITHM],
      typ: TYPE,
      audience: room,
      issuer: keys.issuer,
      requiredClaims: ["iss", "sub", "jti", "iat", "exp"],
      clockTolerance: 5,
    });
    return payload.aud === room;
  } catch {
    return false; // whatever is wrong with it
  }
}

/** A last character has bits to spare, which would spell one pass in several ways. @param {string} part */
function canonical(part) {
  return base64url.encode(base64url.decode(part)) === part;
}

/**
 * The texts that may be passes, at most four: another page may have planted a cookie.
 * @param {Request} request
 * @param {string} room
 */
function shown(request, room) {
  const cookies = [], known = `waitroom-pass-${room}`;
  for (const part of (request.headers.get("cookie") ?? "").split(";")) {
    const [name, value] = split(part.trim(), "=");
    if (name === `__Host-${known}` && value) cookies.unshift(value);
    if (name === known && value) cookies.push(value); // plain http
  }
  const header = request.headers.get("waitroom-pass");
  return header ? [...cookies.slice(0, 3), header] : cookies.slice(0, 4);
}

/**
 * A one-time code, from the waiting page on another host, becomes a cookie and leaves the address.
 * @param {string} url
 * @param {Keys} keys
 * @param {string} origin
 * @param {URL} at
 * @param {string | undefined} browser  without its secret this browser never asked for a code
 */
async function redeemed(url, keys, origin, at, browser) {
  const code = at.searchParams.get(CODE) ?? "";
  at.searchParams.delete(CODE);
  const clean = redirect(origin + at.pathname + at.search);
  if (!browser) return clean;
  try {
    const answer = await fetch(new URL("/v1/redeem", url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code, browser }),
      signal: AbortSignal.timeout(4 * DEADLINE_MS),
      redirect: "error",
    });
    const { room, pass } = /** @type {{room: string, pass: string}} */ (await answer.json());
    if (!answer.ok || !(await good(keys, room, pass))) return clean;
    const left = Math.max(1, claims(pass).exp - Math.floor(Date.now() / 1000));
    clean.headers.set("set-cookie", cookie(origin, `waitroom-pass-${room}`, pass, left));
  } catch {
    // used, too old, or Waitroom is away: the clean address leads to the waiting page
  }
  return clean;
}

/** @param {string} origin @param {string} name @param {string} value @param {number} seconds */
function cookie(origin, name, value, seconds) {
  const text = `${name}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}`;
  return origin.startsWith("https:") ? `__Host-${text}; Secure` : text;
}

/**
 * The secret by which codes belong to a browser: somebody else's code leads nobody into their session.
 * @param {Request} request
 * @param {string} origin
 */
function secretOf(request, origin) {
  const known = origin.startsWith("https:") ? "__Host-waitroom-browser" : "waitroom-browser";
  for (const part of (request.headers.get("cookie") ?? "").split(";")) {
    const [name, value] = split(part.trim(), "=");
    if (name === known && /^[\w-]{32}$/.test(value)) return value;
  }
  return undefined;
}

/**
 * Send a browser to the waiting page, with the hash of its secret.
 * @param {string} page
 * @param {string} origin
 * @param {string | undefined} known
 */
async function waitingPage(page, origin, known) {
  const secret = known ?? base64url.encode(crypto.getRandomValues(new Uint8Array(24)));
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`waitroom browser ${secret}`));
  const answer = redirect(`${page}&browser=${base64url.encode(new Uint8Array(hash))}`);
  if (!known) answer.headers.set("set-cookie", cookie(origin, "waitroom-browser", secret, 604_800));
  return answer;
}

/** @param {string} pass @returns {import("jose").JWTPayload & {exp: number}} */
function claims(pass) {
  return JSON.parse(new TextDecoder().decode(base64url.decode(pass.split(".")[1])));
}

// Paths -----------------------------------------------------------------------------------------
// Servers differ in how they read `%2e%2e`, `//`, `;x`, `\`, capitals and wide letters. So a path is
// read in every way that any of them might, and is protected if one reading is.

/**
 * The room of a path; undefined if it is free, null if it cannot be read in one way.
 * @param {Rule[]} ordered
 * @param {string} path
 */
function roomOf(ordered, path) {
  let readings;
  try {
    const parts = segments(folded(path));
    readings = [parts, resolved(parts)];
  } catch {
    return null;
  }
  const rooms = new Set();
  for (const parts of readings) {
    const rule = ordered.find((candidate) => candidate.parts.every((part, at) => part === parts[at]));
    if (rule !== undefined) rooms.add(rule.room);
  }
  return rooms.size > 1 ? null : [...rooms][0]; // a pass for the one room must not open the other
}

/** A path with every layer of encoding, case and look-alike spelling taken off. @param {string} path */
function folded(path) {
  for (let layer = 0; layer < 6; layer++) {
    const wide = path.replace(/%u([0-9a-f]{4})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
    const text = decoded(wide).normalize("NFKC").toLowerCase().replace(/[\p{Cf}\ufffd]/gu, "");
    if (/[\p{Cc}\p{Cs}\p{Cn}]/u.test(text)) break; // nor what this Node does not know yet
    if (text === path) return text;
    path = text;
  }
  throw new TypeError("unreadable path");
}

/** @param {string} text */
function decoded(text) {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    new TextDecoder().decode(Uint8Array.from(run.slice(1).split("%"), (hex) => parseInt(hex, 16))),
  );
}

/** @param {string} text */
function segments(text) {
  const parts = text.split(/[/\\]+/).map((part) => part.split(/[;?#]/)[0].trim());
  return parts.map((part) => (part === ".." ? part : part.replace(/[. ]+$/, ""))).filter(Boolean);
}

/** @param {string[]} parts */
function resolved(parts) {
  /** @type {string[]} */
  const path = [];
  for (const part of parts) {
    if (part === "..") path.pop();
    else path.push(part);
  }
  return path;
}

// Answers ---------------------------------------------------------------------------------------

/** @param {Request} request */
function isProgram(request) {
  const { headers } = request;
  if (headers.has("x-requested-with") || headers.has("waitroom-pass")) return true;
  const accept = (headers.get("accept") ?? "").toLowerCase();
  return accept.includes("json") && !accept.includes("text/html");
}

/** @param {string} location */
function redirect(location) {
  return new Response(null, { status: 303, headers: { location, "cache-control": "no-store" } });
}

/**
 * @param {400 | 429 | 503} status
 * @param {string} code
 * @param {string} detail
 * @param {Record<string, string>} [extra]
 */
function problem(status, code, detail, extra = {}) {
  const title = { 400: "The request cannot be read", 429: "Please wait", 503: "Not available for a moment" }[status];
  /** @type {Record<string, string>} */
  const headers = { "content-type": "application/problem+json", "cache-control": "no-store" };
  if (status !== 400) headers["retry-after"] = "5";
  return new Response(JSON.stringify({ type: "about:blank", title, status, detail, code, ...extra }), { status, headers });
}

/** @param {Request} request */
function away(request) {
  if (isProgram(request)) return problem(503, "waitroom_away", "the waiting room cannot be reached; try again");
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="5">
<title>One moment, please</title><h1>One moment, please</h1>
<p>The waiting room cannot be reached. This page tries again by itself.</p>`;
  const headers = { "content-type": "text/html; charset=utf-8", "retry-after": "5", "cache-control": "no-store" };
  return new Response(page, { status: 503, headers });
}

/** @param {string} text @param {string} mark */
function split(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
