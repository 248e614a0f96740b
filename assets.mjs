// `make assets`: the scripts and style sheets of the pages, minified, into a folder that git ignores.
// A script that imports the client contains it afterwards: one request less for a crowd on phones.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const server = fileURLToPath(new URL("src/waitroom/server", import.meta.url));
const from = join(server, "static"), to = join(server, "static_built");
const names = readdirSync(from, { recursive: true })
  .map((name) => name.replaceAll("\\", "/")).filter((name) => /\.(js|css)$/.test(name)).sort();

const client = {
  name: "client",
  /** @param {import("esbuild").PluginBuild} building */
  setup(building) {
    building.onResolve({ filter: /^\/waitroom\.js$/ }, () => ({ path: join(from, "waitroom.js") }));
  },
};

rmSync(to, { recursive: true, force: true });
await build({
  entryPoints: names.map((name) => join(from, name)),
  outbase: from,
  outdir: to,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  external: ["/static/*"],
  plugins: [client],
});

// What they were made of: the server ignores them once a source is newer. Written last, when all of it is there.
const digest = createHash("sha256");
for (const name of names) digest.update(`${name}\0`).update(readFileSync(join(from, name))).update("\0");
writeFileSync(join(to, "SOURCES"), digest.digest("hex"));
