// A site on plain Node behind the gate: `WAITROOM_URL=http://127.0.0.1:8080 node server.mjs`.
// For Express, Next.js and Hono: docs/howto-other-stacks.md.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { waitroom } from "@waitroom/gate";
import { middleware } from "@waitroom/gate/node";

const port = Number(process.env.PORT ?? 3000);

// With CLAIM_KEY every account has one place. This site believes anybody who says who they are: yours asks for a password first.
const claimKey = process.env.CLAIM_KEY;
/** @type {Map<string, string>} the user of each session */
const users = new Map();
/** @param {import("node:http").IncomingMessage} request */
const identity = (request) => users.get(/(?:^|; )session=([\w-]+)/.exec(request.headers.cookie ?? "")?.[1] ?? "");

const gated = middleware(waitroom({
  url: process.env.WAITROOM_URL ?? "http://127.0.0.1:8080",
  site: process.env.SITE ?? `http://127.0.0.1:${port}`,
  rules: { "/concert": "concert" },
  finish: ["POST /concert/order"],
  strict: process.env.STRICT === "true",
  whenAway: process.env.WHEN_AWAY === "open" ? "open" : "closed",
  deadlineMs: Number(process.env.WAITROOM_DEADLINE_MS ?? 250),
  ...(claimKey ? { identity, claimKey } : {}),
}));

const server = createServer(async (request, response) => {
  await gated(request, response, (error) => {
    if (error) {
      console.error(error);
      response.writeHead(500).end();
      return;
    }
    const user = /^\/sign-in\?user=(\w+)$/.exec(request.url ?? "")?.[1];
    if (claimKey && user !== undefined) {
      const session = randomUUID();
      users.set(session, user);
      response.setHeader("set-cookie", `session=${session}; Path=/; HttpOnly; SameSite=Lax`);
    }
    const fails = request.url?.endsWith("?fail"); // a failed order; `new URL` would throw for `//`
    if (request.url?.startsWith("/concert")) response.setHeader("set-cookie", "basket=1");
    response.writeHead(fails ? 500 : 200, { "content-type": "text/plain" }).end(`the site, at ${request.url}\n`);
  });
});

server.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}`));
