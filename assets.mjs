// `make assets`: the scripts and style sheets of the pages, minified, into a folder that git ignores.
// A script contains what it imports: the client, and on the operator page uPlot and idiomorph.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const server = fileURLToPath(new URL("src/waitroom/server", import.meta.url));
const from = join(server, "static"), to = join(server, "static_built");
/** Scripts in TypeScript that a page loads; the others are their modules. */
const typed = ["operator/console.ts"];

/** @param {string} folder @param {string} path */
const within = (folder, path) => relative(folder, resolve(path)).replaceAll("\\", "/");
/** @param {string} path */
const hash = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");

const client = {
  name: "client",
  /** @param {import("esbuild").PluginBuild} building */
  setup(building) {
    building.onResolve({ filter: /^\/waitroom\.js$/ }, () => ({ path: join(from, "waitroom.js") }));
    // The client loads it when a room asks for it; a server has it here.
    building.onResolve({ filter: /^\.\/work\.js$/ }, () => ({ path: "/static/work.js", external: true }));
  },
};

rmSync(to, { recursive: true, force: true });
const plain = readdirSync(from, { recursive: true })
  .map((name) => String(name).replaceAll("\\", "/"))
  .filter((name) => /\.(js|css)$/.test(name));
const { metafile } = await build({
  entryPoints: [...plain, ...typed].sort().map((name) => join(from, name)),
  outbase: from,
  outdir: to,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  external: ["/static/*"],
  metafile: true,
  plugins: [client],
});

// A licence must accompany the code; `make sbom` lists the packages.
const names = new Set(Object.keys(metafile.inputs).flatMap((path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(`/${path}`)?.[1] ?? []));
const packages = [...names].sort();
/** @param {string} name @param {string} file */
const text = (name, file) => readFileSync(new URL(`node_modules/${name}/${file}`, import.meta.url), "utf8");
const licences = packages.map((name) => `${name}\n\n${text(name, "LICENSE").trim()}\n`);
writeFileSync(join(to, "LICENSES.txt"), licences.join("\n\n"));
const listed = packages.map((name) => {
  const { version, license } = JSON.parse(text(name, "package.json"));
  return { name, version, license };
});
writeFileSync(join(to, "PACKAGES.json"), JSON.stringify(listed));

// The sources of each file: the server ignores a file once a source is newer. Written last, when everything is there.
/** @type {Record<string, Record<string, string>>} */
const sources = {};
for (const [output, { inputs }] of Object.entries(metafile.outputs)) {
  const own = Object.keys(inputs).filter((path) => !path.includes("node_modules/"));
  sources[within(to, output)] = Object.fromEntries(own.map((path) => [within(from, path), hash(path)]));
}
writeFileSync(join(to, "SOURCES.json"), JSON.stringify(sources));
