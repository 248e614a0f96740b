// A site on plain Node behind the gate: `WAITROOM_URL=http://127.0.0.1:8080 node server.mjs`.
// In Next.js the gate is the whole of middleware; docs/howto-other-stacks.md has it.

import { createServer } from "node:http";
import { waitroom } from "./middleware.mjs";

const port = Number(process.env.PORT ?? 3000);
const site = process.env.SITE ?? `http://127.0.0.1:${port}`;
const gate = waitroom({
  url: process.env.WAITROOM_URL ?? "http://127.0.0.1:8080",
  site,
  rules: { "/concert": "concert" },
  whenAway: process.env.WHEN_AWAY === "open" ? "open" : "closed",
});

const server = createServer(async (incoming, outgoing) => {
  try {
    const answer = await gated(incoming);
    if (answer === undefined) {
      outgoing.end(`the site, at ${incoming.url}\n`);
    } else {
      outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
      outgoing.end(await answer.text());
    }
  } catch (error) {
    console.error(error); // never let a request through because the gate broke
    if (!outgoing.headersSent) outgoing.writeHead(500);
    outgoing.end();
  }
});

/** @param {import("node:http").IncomingMessage} incoming */
async function gated(incoming) {
  const { url = "" } = incoming;
  // `new URL(path, site)` would take `//concert` for a host; what comes is put behind ours as it is.
  if (!url.startsWith("/")) return new Response("not an address of this site\n", { status: 400 });
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(incoming.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  // Of methods only GET and HEAD matter to the gate, and Request refuses some, like TRACE.
  const method = incoming.method === "GET" || incoming.method === "HEAD" ? incoming.method : "POST";
  const request = new Request(site + url, { method, headers });
  return gate(request, url.split("?")[0]);
}

server.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}`));
