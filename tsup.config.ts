import { readFileSync } from "node:fs"
import { defineConfig } from "tsup"

// of the package that is built
const { bin = {}, engines, exports, sideEffects } = JSON.parse(readFileSync("package.json", "utf8")) as {
  readonly bin?: Readonly<Record<string, string>>
  readonly engines: { readonly node: string }
  readonly exports: Readonly<Record<string, string | { readonly "@waybill/source"?: string }>>
  readonly sideEffects: false | ReadonlyArray<string>
}

// Node takes longer to find and read hundreds of files than to run them (docs/decisions/0157): only what can be imported from outside has a file
const entries = [
  ...Object.values(exports).flatMap((entry) => typeof entry === "string" ? [] : entry["@waybill/source"] ?? []),
  ...Object.values(bin).map((program) => program.replace("./dist/", "./src/").replace(/\.js$/, ".ts")),
  ...(sideEffects || []).filter((file) => file.startsWith("./src/"))
].map((file) => file.replace("./", ""))

export default defineConfig({
  entry: entries,
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
