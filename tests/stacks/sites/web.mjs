// A site with the gate's `handle` alone, as Next.js middleware and Workers use it, for tests.

import { serve } from "@hono/node-server";
import { waitroom } from "@waitroom/gate";
import { accounts, signIn } from "./sessions.mjs";

const { PORT, SITE, WAITROOM_URL, STRICT, WHEN_AWAY, WAITROOM_DEADLINE_MS } = process.env;
const gate = waitroom({
  url: WAITROOM_URL, site: SITE, rules: { "/concert": "concert" }, finish: ["POST /concert/order"],
  strict: STRICT === "true", whenAway: WHEN_AWAY, deadlineMs: Number(WAITROOM_DEADLINE_MS),
  ...accounts((request) => request.headers.get("cookie")),
});

function site(request) {
  const { pathname, searchParams } = new URL(request.url);
  const status = searchParams.has("fail") ? 500 : 200;
  const answer = new Response(`the site, at ${pathname}\n`, { status, headers: { "set-cookie": "basket=1" } });
  const session = signIn(request.url);
  if (session) answer.headers.append("set-cookie", session);
  return answer;
}
serve({ fetch: (request) => gate.handle(request, () => site(request)), port: Number(PORT), hostname: "127.0.0.1" });
