import { readFileSync } from "node:fs"
import { defineConfig } from "tsup"

// of the package that is built
const { engines } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly engines: { readonly node: string } }

// One configuration for every package: `tsup --config ../../tsup.config.ts` runs inside the package. Every file is an
// entry, so that every module stays a file: importers leave out what they do not use file by file. Schemas and services are
// created by calls, so a bundler could not remove one big file that contains a single used one.
export default defineConfig({
  entry: ["src/**/*.ts"],
  format: ["esm"],
  // the oldest Node that the package supports, such as node22.19
  target: `node${engines.node.replace(">=", "")}`,
  sourcemap: true,
  clean: true,
  treeshake: true,
  // some of Node's own modules, such as node:sqlite, have no other name
  removeNodeProtocol: false,
  // effect is core's dependency alone; these have it as a peer, and beside Waybill they
  // could bring another copy of it (docs/decisions/0035)
  external: [/^effect(\/|$)/],
  noExternal: [/^@effect\/(platform-node|sql-pg)/],
  // declarations come from `tsc -b`, like those of `npm run check`: scripts/packages/finish-build.mjs copies them
  dts: false
})
