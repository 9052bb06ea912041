import { defineConfig } from "tsup"

// One configuration for every package: `tsup --config ../../tsup.config.ts` runs inside the package. Every file is an
// entry, so that every module stays a file: importers leave out what they do not use file by file. Schemas and services are
// classes made by a call, and one big file with a single one of them in it could not be left out.
export default defineConfig({
  entry: ["src/**/*.ts"],
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
