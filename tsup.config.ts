import { existsSync, readFileSync } from "node:fs"
import { defineConfig } from "tsup"

// One configuration for every package: `tsup --config ../../tsup.config.ts` runs inside the package, and what to build
// is read from its own `exports`, so a new entry point is declared once.
const { exports, bin } = JSON.parse(readFileSync("package.json", "utf8")) as {
  exports: Record<string, string | { "@waybill/source"?: string }>
  bin?: Record<string, string>
}
const entry = Object.values(exports).flatMap((to) => (typeof to === "object" && to["@waybill/source"]) || [])
const programs = Object.values(bin ?? {}).map((file) => file.replace("/dist/", "/src/").replace(/\.js$/, ".ts"))

export default defineConfig({
  entry: [...entry, ...programs.filter((file) => existsSync(file))],
  format: ["esm"],
  target: "node22",
  sourcemap: true,
  clean: true,
  treeshake: true,
  // some of Node's own modules, such as node:sqlite, have no other name
  removeNodeProtocol: false,
  // declarations come from `tsc -p tsconfig.build.json`
  dts: false
})
