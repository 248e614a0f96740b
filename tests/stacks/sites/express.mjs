// A site on Express behind the gate of the package, for tests.

import express from "express";
import { waitroom } from "@waitroom/gate";
import { middleware } from "@waitroom/gate/node";
import { accounts, signIn } from "./sessions.mjs";

const { PORT, SITE, WAITROOM_URL, STRICT, WHEN_AWAY, WAITROOM_DEADLINE_MS } = process.env;
const gate = waitroom({
  url: WAITROOM_URL, site: SITE, rules: { "/concert": "concert" }, finish: ["POST /concert/order"],
  strict: STRICT === "true", whenAway: WHEN_AWAY, deadlineMs: Number(WAITROOM_DEADLINE_MS),
  ...accounts((request) => request.headers.cookie),
});

const app = express();
app.use(middleware(gate));
app.use((request, response) => {
  const session = signIn(request.originalUrl);
  if (session) response.append("set-cookie", session);
  response.cookie("basket", "1");
  response.status("fail" in request.query ? 500 : 200).send(`the site, at ${request.originalUrl}\n`);
});
app.listen(Number(PORT), "127.0.0.1");
