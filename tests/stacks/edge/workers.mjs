// Runs the bundled Worker in workerd, the runtime of Cloudflare Workers, for tests.

import { Miniflare } from "miniflare";

const { PORT, SITE, WAITROOM_URL, WAITROOM_DEADLINE_MS } = process.env;
const server = new Miniflare({
  modules: true, scriptPath: "bundle.mjs", compatibilityDate: "2026-04-01", host: "127.0.0.1", port: Number(PORT),
  bindings: { SITE, WAITROOM_URL, WAITROOM_DEADLINE_MS },
});
process.on("SIGTERM", () => server.dispose().then(() => process.exit(0)));
await server.ready;
