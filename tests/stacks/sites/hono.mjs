// A site on Hono behind the gate of the package, for tests.

import { serve } from "@hono/node-server";
import { waitroom } from "@waitroom/gate";
import { middleware } from "@waitroom/gate/hono";
import { Hono } from "hono";
import { accounts, signIn } from "./sessions.mjs";

const { PORT, SITE, WAITROOM_URL, STRICT, WHEN_AWAY, WAITROOM_DEADLINE_MS } = process.env;
const gate = waitroom({
  url: WAITROOM_URL, site: SITE, rules: { "/concert": "concert" }, finish: ["POST /concert/order"],
  strict: STRICT === "true", whenAway: WHEN_AWAY, deadlineMs: Number(WAITROOM_DEADLINE_MS),
  ...accounts((request) => request.headers.get("cookie")),
});

const app = new Hono();
app.use(middleware(gate));
app.all("*", (context) => {
  const session = signIn(context.req.url);
  if (session) context.header("set-cookie", session, { append: true });
  context.header("set-cookie", "basket=1", { append: true });
  return context.text(`the site, at ${context.req.url}\n`, context.req.query("fail") === undefined ? 200 : 500);
});
serve({ fetch: app.fetch, port: Number(PORT), hostname: "127.0.0.1" });
