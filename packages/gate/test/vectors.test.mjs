// The vectors of the contract: docs/gate-contract.md.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ClaimKey, userId } from "../src/claims.js";
import { Plan, decide } from "../src/decision.js";
import { keySet } from "../src/keys.js";
import { Table } from "../src/paths.js";
import { verified } from "../src/passes.js";
import { codeOf, onSite, returnTo, waitingPage } from "../src/returns.js";

/** @param {string} name */
const vectors = (name) => JSON.parse(readFileSync(new URL(`../../../contract/${name}.json`, import.meta.url), "utf8"));

test("passes", async () => {
  const { cases, jwks, now_s } = vectors("passes");
  const keys = keySet(jwks.keys, jwks.issuer);
  for (const { name, room, pass, good } of cases) {
    assert.equal((await verified(keys, pass, now_s))?.room === room, good, name);
  }
});

test("paths", () => {
  const { cases, tables } = vectors("paths");
  const made = tables.map(({ rules, bypass_paths }) => new Table([
    ...Object.entries(rules).map(([path, room]) => ({ path, room })), ...bypass_paths.map((path) => ({ path, room: null })),
  ]));
  for (const { table, path, room = null, refused = false } of cases) {
    const match = made[table].match("GET", path);
    assert.deepEqual([match.place?.room ?? null, match.refused ?? false], [room, refused], path);
  }
});

test("returns", () => {
  const { cases, codes, site, public_url, room } = vectors("returns");
  for (const { path, query, return: back, page } of cases) {
    assert.equal(returnTo(site, path, query), back);
    assert.equal(waitingPage(public_url, room, back), page);
  }
  for (const { query, code, clean } of codes) {
    assert.equal(codeOf(query) ?? null, code, query);
    if (code !== null) assert.equal(onSite("/concert", query), clean);
  }
});

test("claims", async () => {
  const { keys, cases, claims, identities, now_s } = vectors("claims");
  for (const { key, good } of keys) {
    if (good) assert.ok(new ClaimKey(key));
    else assert.throws(() => new ClaimKey(key), TypeError);
  }
  for (const { given, user, refused } of identities) {
    if (refused) assert.throws(() => userId(given), /return a string/);
    else assert.equal(userId(given) ?? "", user);
  }
  for (const odd of [1.5, NaN, 2 ** 53, Symbol("ann"), () => 7, new Date(0)]) assert.throws(() => userId(odd), TypeError);
  assert.deepEqual([userId(undefined), userId(2n ** 64n)], [undefined, "18446744073709551616"]);
  for (const { key, room, user, account } of cases) assert.equal(await new ClaimKey(key).account(room, user), account, user);
  for (const { key, room, account, nonce, claim } of claims) {
    assert.equal(await new ClaimKey(key).claim(room, account, now_s, new Uint8Array(Buffer.from(nonce, "base64url"))), claim);
  }
});

test("decisions", async () => {
  const { cases, jwks, now_s, site, public_url, options: usual, claim_keys: claimKey } = vectors("decisions");
  const keys = keySet(jwks.keys, jwks.issuer);
  for (const { name, request, expect, user, options = usual } of cases) {
    const known = user === undefined ? {} : { identity: () => user, claimKey };
    const { rules, bypass_paths: bypassPaths, finish, renew } = options;
    const plan = new Plan({ url: "http://10.0.0.7:8080", publicUrl: public_url, site, rules, bypassPaths, finish, renew, ...known });
    const header = (name_) => request.headers[name_];
    const read = async (room, text) => {
      const pass = await verified(keys, text, now_s);
      return pass?.room === room ? pass : undefined;
    };
    assert.deepEqual(told(await decide(plan, { ...request, header, user: user || undefined }, read, now_s)), expect, name);
  }
});

/** A decision as the vectors write it. */
function told(decision) {
  switch (decision.do) {
    case "pass":
      return { do: decision.finish ? "finish" : decision.renew ? "renew" : "pass", room: decision.pass.room };
    case "wait": {
      const { program, ...rest } = decision;
      return { ...rest, do: program ? "program" : "wait" };
    }
    case "refuse":
      return { do: "refuse", status: 400 };
    default:
      return decision;
  }
}
