// What happens to a request: pass on, wait, redeem or refuse. It makes no calls; the gate does.

import { ClaimKey } from "./claims.js";
import { Table, worded } from "./paths.js";
import { codeOf, onSite, returnTo, waitingPage } from "./returns.js";
import { cookies, split } from "./text.js";

/** @typedef {import("./passes.js").Pass} Pass */
/**
 * @typedef {object} Facts
 * @property {string} method
 * @property {string} path   as received
 * @property {string} query  as received, without `?`
 * @property {(name: string) => string | null | undefined} header  by its name in lower case
 * @property {string} [user]  who has signed in, if the gate was told how to know that
 */
/**
 * @typedef {object} Options
 * @property {string} url         Waitroom, as this server reaches it
 * @property {string} [publicUrl] Waitroom, as browsers reach it
 * @property {string} site        the origin of this site: people are sent back there, whatever Host says
 * @property {Record<string, string>} rules  path to room; a path covers everything below it, `*` is any one segment
 * @property {string[]} [bypassPaths]  free parts below a rule
 * @property {string[]} [finish]  paths whose answer ends the session: `"POST /order"` or `"/thanks"`
 * @property {boolean} [renew]    extend the sessions of active visitors; true by default
 * @property {boolean} [strict]   ask Waitroom whether a session is still valid, once a second per pass
 * @property {"closed" | "open"} [whenAway]  for newcomers, while Waitroom cannot be reached
 * @property {number} [deadlineMs]  how long a request waits for Waitroom, per call
 * @property {(request: any) => Identity | Promise<Identity>} [identity]  who has signed in; asked only where that matters
 * @property {string | Record<string, string>} [claimKey]  of `waitroom claim-key`: of the only room, or room to key
 */
/** @typedef {string | number | bigint | false | null | undefined} Identity  the id of a user of this site; none: not signed in */
/**
 * @typedef {{do: "free"} | {do: "pass", pass: Pass, renew: boolean, finish: boolean} | {do: "wait", room: string, url: string, program: boolean, account?: string}
 *   | {do: "redeem", code: string, clean: string} | {do: "refuse"}} Decision
 */

const MOST_TRIED = 4; // cookies that one request may show

/** The options as `decide` needs them. */
export class Plan {
  /** @param {Options} options */
  constructor(options) {
    const rules = Object.entries(options.rules);
    if (!rules.length) throw new TypeError('rules is empty; give the path of a room, { "/concert": "concert" }');
    this.site = new URL(options.site).origin;
    this.page = (options.publicUrl ?? options.url).replace(/\/+$/, "");
    this.rooms = [...new Set(rules.map(([, room]) => room))];
    this.renew = options.renew ?? true;
    this.table = new Table([...rules.map(([path, room]) => ({ path, room })), ...(options.bypassPaths ?? []).map((text) => worded(text, null))]);
    this.ends = new Table((options.finish ?? []).map((text) => worded(text, "finish")));
    this.claimKeys = claimKeys(options, this.rooms);
  }

  /** The account in a room of who has signed in; undefined for who has not. @param {Facts} facts @param {string} room */
  async account({ user }, room) {
    return user === undefined ? undefined : this.claimKeys.get(room)?.account(room, user);
  }

  /** Whether it matters who has signed in: the path is protected, or ends a session. @param {Facts} facts */
  guards({ method, path }) {
    return this.table.match(method, path).place !== undefined || this.ends.match(method, path).place !== undefined;
  }
}

/** @param {Options} options @param {string[]} rooms @returns {Map<string, ClaimKey>} */
function claimKeys({ identity, claimKey }, rooms) {
  if ((identity === undefined) !== (claimKey === undefined)) throw new TypeError("identity and claimKey belong together; give both or neither");
  if (claimKey === undefined) return new Map();
  const given = typeof claimKey === "string" && rooms.length === 1 ? { [rooms[0]]: claimKey } : Object(claimKey);
  const named = Object.keys(given);
  if (named.length !== rooms.length || !rooms.every((room) => named.includes(room))) {
    throw new TypeError(`claimKey: give the key of each room, { ${JSON.stringify(rooms[0])}: "wrc_…" }, and no other`);
  }
  return new Map(rooms.map((room) => [room, new ClaimKey(given[room])]));
}

/**
 * @param {Plan} plan
 * @param {Facts} facts
 * @param {(room: string, text: string) => Promise<Pass | undefined>} read  the pass in a text, if it is valid
 * @param {number} now  in seconds
 * @returns {Promise<Decision>}
 */
export async function decide(plan, facts, read, now) {
  const { place, refused } = plan.table.match(facts.method, facts.path);
  if (refused) return { do: "refuse" };
  const code = place && isSafe(facts) ? codeOf(facts.query) : undefined;
  if (code !== undefined) return { do: "redeem", code, clean: onSite(facts.path, facts.query) };
  const ends = plan.ends.match(facts.method, facts.path).place !== undefined;
  if (!place && !ends) return { do: "free" };
  for (const room of place ? [place.room ?? ""] : plan.rooms) {
    const account = await plan.account(facts, room);
    for (const text of shown(facts, room)) {
      const pass = await read(room, text);
      // Who has signed in has the pass of their account, or one without a session, of a minute in which Redis was away.
      const own = pass && (account === undefined || pass.ticketId === account || pass.sid === "0");
      if (pass && own) return { do: "pass", pass, renew: plan.renew && now >= pass.half && pass.sid !== "0" && !ends, finish: ends };
    }
  }
  if (!place || isPreflight(facts)) return { do: "free" };
  const room = place.room ?? "";
  // A form cannot be sent again from the waiting page.
  const [path, query] = isSafe(facts) ? [facts.path, facts.query] : [place.path.includes("*") ? "/" : place.path, ""];
  const url = waitingPage(plan.page, room, returnTo(plan.site, path, query)), account = await plan.account(facts, room);
  return { do: "wait", room, url, program: isProgram(facts), ...(account === undefined ? {} : { account }) };
}

/** Whether the client is a program, which cannot use a page. @param {Facts} facts */
export function isProgram({ header }) {
  if (["x-requested-with", "waitroom-pass", "waitroom-ticket", "waitroom-key"].some((name) => header(name))) return true;
  const accept = (header("accept") ?? "").toLowerCase();
  return accept.includes("json") && !accept.includes("text/html");
}

/** @param {Facts} facts */
function isSafe(facts) {
  return facts.method === "GET" || facts.method === "HEAD";
}

/** A browser sends no cookie with a preflight. @param {Facts} facts */
function isPreflight({ method, header }) {
  return method === "OPTIONS" && Boolean(header("access-control-request-method") && header("origin"));
}

/** The texts that may be passes. @param {Facts} facts @param {string} room */
function shown({ header }, room) {
  const given = header("cookie") ?? "", name = `waitroom-pass-${room}`;
  const texts = [...cookies(given, `__Host-${name}`), ...cookies(given, name)].slice(0, MOST_TRIED);
  const [kind, token] = split(header("authorization") ?? "", " ");
  texts.push(header("waitroom-pass") ?? "", kind.toLowerCase() === "bearer" ? token.trim() : "");
  return texts.filter(Boolean);
}
