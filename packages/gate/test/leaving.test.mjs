// A visitor who leaves while the gate asks for keys: the runtime is told of the call, because others wait for it too.

import assert from "node:assert/strict";
import { test } from "node:test";
import { waitroom } from "../src/index.js";

test("the runtime knows of a call until it is over", async (context) => {
  let answer;
  context.mock.method(globalThis, "fetch", () => new Promise((done) => (answer = done)));
  const gate = waitroom({ url: "http://w", site: "https://a.example", rules: { "/": "room" } });
  const works = [];
  void gate(new Request("https://a.example/"), { waitUntil: (work) => works.push(work) });
  let over = false;
  const all = Promise.all(works).then(() => (over = true));
  await new Promise((done) => setTimeout(done, 20));
  assert.equal(over, false);
  answer(Response.json({ keys: [], issuer: "waitroom" }));
  await all;
});
