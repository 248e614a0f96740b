// Builds `dist` of this package. The client itself is the file that the server serves: there is no copy of it in git.
import { execFileSync } from "node:child_process";
import { copyFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url)), dist = join(here, "dist");
const served = join(here, "../../src/waitroom/server/static/waitroom.js");
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");

const client = {
  name: "client",
  /** @param {import("esbuild").PluginBuild} building */
  setup(building) {
    building.onResolve({ filter: /^\.\/waitroom\.js$/ }, () => ({ path: served }));
  },
};

rmSync(dist, { recursive: true, force: true });
await build({
  entryPoints: ["index.ts", "react.ts", "api.ts"].map((name) => join(here, "src", name)),
  outdir: dist,
  bundle: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  external: ["./index.js", "react"], // one class for both entry points
  // Served, the client finds its server by its own address. In a bundle that is the app's address, so `base` must be given,
  // and no bundler must read the address as a file.
  define: { "import.meta.url": "undefined" },
  plugins: [client],
});
// The types of the client first: those of the package refer to them.
const types = ["--allowJs", "--declaration", "--emitDeclarationOnly", "--skipLibCheck", "--target", "es2022",
  "--module", "es2022", "--moduleResolution", "bundler", "--lib", "es2022,dom", "--ignoreConfig"];
for (const args of [[served, ...types, "--outDir", dist], ["-p", join(here, "tsconfig.build.json")]]) {
  execFileSync(process.execPath, [tsc, ...args], { stdio: "inherit" });
}
copyFileSync(join(here, "../../LICENSE"), join(here, "LICENSE"));
