// A gate's own responses: a redirect, a form with a claim, a problem document, or a page to try again.

import { base64url } from "jose";

const TITLES = { 400: "The request cannot be read", 429: "Please wait", 503: "Not available for a moment" };
const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="5"><title>One moment, please</title><h1>One moment, please</h1>
<p>The waiting room cannot be reached. This page tries again by itself.</p>`;
const HAND_OVER = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex"><title>One moment, please</title><h1>One moment, please</h1>
<form method="post" action="{action}"><input type="hidden" name="claim" value="{claim}"><button>Go to the waiting room</button></form>
<script nonce="{nonce}">document.forms[0].submit()</script>`;

/** @param {string} location @param {string} [kept]  a cookie */
export function redirect(location, kept) {
  const answer = new Response(null, { status: 303, headers: { location, "cache-control": "no-store" } });
  if (kept !== undefined) answer.headers.append("set-cookie", kept);
  return answer;
}

/**
 * Send a browser to the waiting page with a claim: in the body of a form, never in an address. The waiting page learns our origin and no more.
 * @param {string} action  of letters that need no escape
 * @param {string} claim
 * @param {string} [kept]  a cookie
 */
export function handOver(action, claim, kept) {
  const nonce = base64url.encode(crypto.getRandomValues(new Uint8Array(16)));
  const policy = `default-src 'none'; script-src 'nonce-${nonce}'; form-action ${new URL(action).origin}; base-uri 'none'; frame-ancestors 'none'`;
  const page = HAND_OVER.replace("{action}", action.replaceAll("&", "&amp;")).replace("{claim}", claim).replace("{nonce}", nonce);
  const headers = new Headers({
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policy,
    "referrer-policy": "strict-origin",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  });
  if (kept !== undefined) headers.append("set-cookie", kept);
  return new Response(page, { headers });
}

/** @param {400 | 429 | 503} status @param {string} code @param {string} detail @param {Record<string, string>} [extra] */
export function problem(status, code, detail, extra = {}) {
  const headers = new Headers({ "content-type": "application/problem+json", "cache-control": "no-store" });
  if (status !== 400) headers.set("retry-after", "5");
  return new Response(JSON.stringify({ type: "about:blank", title: TITLES[status], status, detail, code, ...extra }), { status, headers });
}

/** @param {boolean} program */
export function away(program) {
  if (program) return problem(503, "waitroom_away", "the waiting room cannot be reached; try again");
  const headers = { "content-type": "text/html; charset=utf-8", "retry-after": "5", "cache-control": "no-store" };
  return new Response(PAGE, { status: 503, headers });
}

/** @param {boolean} secure @param {string} name @param {string} value @param {number} seconds  0 removes it */
export function cookie(secure, name, value, seconds) {
  const text = `${name}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}`;
  return secure ? `__Host-${text}; Secure` : text;
}
