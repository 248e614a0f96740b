// The Waitroom gate: anybody with a good pass goes on, everybody else waits.
//
// Passes are checked here, with the keys that Waitroom publishes: a request needs no call. Only the
// Web's own Request, Response, fetch and crypto are used, so it runs on Node, in Next.js and on edge runtimes.
//
//   const gate = waitroom({ url, site: "https://tickets.example", rules: { "/concert": "concert" } });
//   const answer = await gate(request);   // undefined means go on

import { base64url } from "jose";
import { away, cookie, handOver, problem, redirect } from "./answers.js";
import { userId } from "./claims.js";
import { Plan, decide } from "./decision.js";
import { Keys } from "./keys.js";
import { Remote } from "./remote.js";
import { Sessions } from "./sessions.js";
import { cookies, split } from "./text.js";

/** @typedef {import("./decision.js").Options} Options */
/** @typedef {import("./decision.js").Facts} Facts */
/** @typedef {import("./passes.js").Pass} Pass */
/** @typedef {{method: string, url: string, headers: {get: (name: string) => string | null | undefined}, original?: unknown}} AnyRequest  a Request, or as much of one; `original` is what `identity` gets */
/** @typedef {{waitUntil?: (work: Promise<unknown>) => void}} Context  edge runtimes only continue work after the answer if they know of it */

const DEADLINE_MS = 250;
const BROWSER_S = 604_800; // how long a browser keeps the secret that ties codes to it

/** The outcome of a request. */
export class Visit {
  #gate;
  #ends;
  #done = false;

  /**
   * @param {Gate} gate
   * @param {{answer?: Response, pass?: Pass, renewing?: Promise<void>, renew?: boolean, finish?: boolean}} outcome
   */
  constructor(gate, { answer, pass, renewing, finish = false }) {
    this.#gate = gate;
    this.#ends = finish;
    /** The answer in place of the site's; undefined means go on. @type {Response | undefined} */
    this.answer = answer;
    /** The visitor's pass, if one was needed and shown. @type {Pass | undefined} */
    this.pass = pass;
    /** Resolves when a renewal under way is over. @type {Promise<void> | undefined} */
    this.renewing = renewing;
  }

  /** End the session: its place goes to the next person. It does not wait for the call. */
  async finish() {
    if (this.pass === undefined || this.#done) return;
    this.#done = true;
    await this.#gate.sessions.finish(this.pass);
  }

  /** The values of Set-Cookie that go with the site's response. @param {number} status  of that response */
  cookies(status) {
    const { pass } = this;
    if (pass === undefined) return [];
    if (this.#ends && status < 400) this.#gate.later(this.finish());
    if (this.#done) return ["pass", "ticket"].map((kind) => this.#gate.cookie(`waitroom-${kind}-${pass.room}`, "", 0));
    const fresh = this.#gate.sessions.renewed(pass);
    return fresh ? [this.#gate.passCookie(fresh)] : [];
  }
}

class Gate {
  /** @param {Options} options */
  constructor(options) {
    this.options = options;
    this.plan = new Plan(options);
    this.remote = new Remote(options.url, options.deadlineMs ?? DEADLINE_MS);
    this.keys = new Keys(this.remote);
    this.sessions = new Sessions(this.remote, this.keys, this.plan.rooms);
    this.secure = this.plan.site.startsWith("https:");
  }

  /** @param {AnyRequest} request @param {Context} [context] @returns {Promise<Visit>} */
  async visit(request, { waitUntil } = {}) {
    const facts = factsOf(request), { plan, sessions, options } = this;
    if (options.identity !== undefined && plan.guards(facts)) {
      facts.user = userId(await options.identity(request.original ?? request));
    }
    const now = Date.now() / 1000;
    let decision = await decide(plan, facts, (room, text) => sessions.read(room, text), now), refused = false;
    this.later(sessions.tidy(), waitUntil);
    if (options.strict && decision.do === "pass" && !(await sessions.goesOn(decision.pass))) {
      refused = true;
      decision = await decide(plan, facts, async () => undefined, now);
    }
    if (decision.do === "free") return new Visit(this, {});
    if (decision.do === "refuse") return this.#answered(problem(400, "unreadable_path", "the path can be read in more ways than one"));
    if (decision.do === "redeem") return this.#answered(await this.#redeemed(facts, decision.code, plan.site + decision.clean));
    if (decision.do === "wait") return this.#waiting(facts, decision, refused);
    const renewing = decision.renew ? sessions.renew(decision.pass) : undefined;
    if (renewing) this.later(renewing, waitUntil);
    return new Visit(this, { ...decision, renewing });
  }

  /** @param {Facts} facts @param {{room: string, url: string, program: boolean, account?: string}} wish @param {boolean} refused */
  async #waiting(facts, { room, url, program, account }, refused) {
    if (await this.keys.away()) {
      return this.options.whenAway === "open" && !refused ? new Visit(this, {}) : this.#answered(away(program));
    }
    const claim = account === undefined ? undefined : await this.plan.claimKeys.get(room)?.claim(room, account, Date.now() / 1000);
    if (!program) return this.#answered(await this.#toPage(facts, url, claim));
    const join = `${this.plan.page}/v1/rooms/${room}/tickets`;
    return this.#answered(problem(429, "waiting", "this needs a pass: join the room, then send it as Waitroom-Pass", {
      ...(claim === undefined ? {} : { claim }), // for the body of the join
      ...{ room, join, url },
    }));
  }

  /** @param {Response} answer */
  #answered(answer) {
    return new Visit(this, { answer });
  }

  /** Send a browser to the waiting page, with the hash of its secret. @param {Facts} facts @param {string} page @param {string} [claim] */
  async #toPage(facts, page, claim) {
    const known = this.#secretOf(facts);
    const secret = known ?? base64url.encode(crypto.getRandomValues(new Uint8Array(24)));
    const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`waitroom browser ${secret}`));
    const kept = known === undefined ? this.cookie("waitroom-browser", secret, BROWSER_S) : undefined;
    const url = `${page}&browser=${base64url.encode(new Uint8Array(hash))}`;
    return claim === undefined ? redirect(url, kept) : handOver(url.replace("?", "/claim?"), claim, kept);
  }

  /** A one-time code, from the waiting page on another host, becomes a cookie and leaves the address. @param {Facts} facts @param {string} code @param {string} clean */
  async #redeemed(facts, code, clean) {
    const browser = this.#secretOf(facts);
    if (browser === undefined) return redirect(clean); // a code that this browser never asked for
    const outcome = await this.remote.ask("POST", "/v1/redeem", { body: { code, browser }, patience: 4 });
    // Used, too old, or Waitroom is away: the clean address leads to the waiting page.
    if (typeof outcome === "string" || outcome.status !== 200) return redirect(clean);
    const { room, pass: text } = outcome.json();
    const pass = typeof room === "string" && typeof text === "string" ? await this.sessions.read(room, text) : undefined;
    return redirect(clean, pass && this.passCookie(pass));
  }

  /** The secret that ties codes to a browser: somebody else's code leads nobody into their session. @param {Facts} facts */
  #secretOf(facts) {
    const name = this.secure ? "__Host-waitroom-browser" : "waitroom-browser";
    return cookies(facts.header("cookie") ?? "", name).find((text) => /^[\w-]{32}$/.test(text));
  }

  /** @param {string} name @param {string} value @param {number} seconds */
  cookie(name, value, seconds) {
    return cookie(this.secure, name, value, seconds);
  }

  /** @param {Pass} pass */
  passCookie(pass) {
    return this.cookie(`waitroom-pass-${pass.room}`, pass.text, Math.max(1, pass.expires - Math.floor(Date.now() / 1000)));
  }

  /** Let work continue after the answer. @param {Promise<unknown>} work @param {Context["waitUntil"]} [waitUntil] */
  later(work, waitUntil) {
    const safe = work.catch((error) => console.error("waitroom gate:", error));
    if (waitUntil) waitUntil(safe);
  }
}

/**
 * Make a gate.
 *
 * `gate(request)` is the answer for visitors who have to wait, and undefined for those who go on. `gate.handle(request, next)` also calls the site, and
 * renews and finishes sessions; `gate.visit` is for adapters.
 * @param {Options} options
 */
export function waitroom(options) {
  const made = new Gate(options);
  /** @param {AnyRequest} request @param {Context} [context] */
  const visit = (request, context) => {
    const work = made.visit(request, context);
    // Others may wait for a call that it started: an edge runtime must not drop it when this visitor leaves.
    context?.waitUntil?.(work.catch(() => undefined));
    return work;
  };
  /** @param {AnyRequest} request @param {Context} [context] @returns {Promise<Response | undefined>} */
  const gate = async (request, context) => (await visit(request, context)).answer;
  /**
   * Answer a request: the gate's own answer, or the site's with the cookies of renewed and finished sessions.
   * @template {Response} R
   * @param {AnyRequest} request
   * @param {(visit: Visit) => R | Promise<R>} next  the site
   * @param {Context} [context]
   * @returns {Promise<R | Response>}
   */
  const handle = async (request, next, context) => {
    const outcome = await visit(request, context);
    if (outcome.answer) return outcome.answer;
    const answer = await next(outcome);
    await outcome.renewing;
    return withCookies(answer, outcome.cookies(answer.status));
  };
  return Object.assign(gate, { visit, handle });
}

/** @template {Response} R @param {R} answer @param {string[]} values @returns {R | Response} */
function withCookies(answer, values) {
  if (!values.length) return answer;
  try {
    for (const value of values) answer.headers.append("set-cookie", value);
    return answer;
  } catch {
    const copy = new Response(answer.body, answer); // the headers of a fetched answer cannot be changed
    for (const value of values) copy.headers.append("set-cookie", value);
    return copy;
  }
}

/** The facts of a request; the path is taken from the text of its address, as received. @param {AnyRequest} request @returns {Facts} */
function factsOf({ method, url, headers }) {
  const [, rest] = split(url, "://");
  const target = rest.slice(rest.search(/[/?#]|$/)).split("#")[0];
  const [path, query] = split(target, "?");
  return { method, path: path || "/", query, header: (name) => headers.get(name) };
}

