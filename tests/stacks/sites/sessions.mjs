// Who has signed in at a test site, if it has a claim key: anybody who says who they are.

import { randomUUID } from "node:crypto";

const { CLAIM_KEY } = process.env;
const users = new Map();

/** Options of the gate; `cookies` gets the Cookie header of what the gate hands to `identity`. */
export function accounts(cookies) {
  if (!CLAIM_KEY) return {};
  const identity = async (request) => users.get(/(?:^|; )session=([\w-]+)/.exec(cookies(request) ?? "")?.[1]);
  return { identity, claimKey: { concert: CLAIM_KEY } };
}

/** The cookie of a new session for `/sign-in?user=`; undefined for any other address. */
export function signIn(url) {
  const { pathname, searchParams } = new URL(url, "http://site");
  if (!CLAIM_KEY || pathname !== "/sign-in") return undefined;
  const session = randomUUID();
  users.set(session, searchParams.get("user"));
  return `session=${session}; Path=/; HttpOnly`;
}
