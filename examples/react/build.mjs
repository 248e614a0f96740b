// WAITROOM_URL=https://wait.example ROOM=concert npm run build
// Writes `dist`: a page that is rendered on a server, here, and hydrated by the script in the browser.
import { mkdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const { WAITROOM_URL = "http://localhost:8080", ROOM = "demo" } = process.env;
const shared = {
  bundle: true,
  format: "esm",
  target: "es2022",
  define: { WAITROOM_URL: JSON.stringify(WAITROOM_URL), ROOM: JSON.stringify(ROOM) },
};

await build({ ...shared, entryPoints: ["src/main.tsx"], outfile: "dist/main.js", minify: true });
await build({ ...shared, entryPoints: ["src/server.tsx"], outfile: "build/server.js", platform: "node", packages: "external" });
const { html } = await import("./build/server.js");
mkdirSync("dist", { recursive: true });
writeFileSync("dist/index.html", `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>The shop</title>
<div id="app">${html()}</div>
<script type="module" src="main.js"></script>
</html>
`);
