/** The simulation with one change to the engine's or the store's text, in a thread of its own. */
import { build, type BuildOptions, type Plugin } from "esbuild"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { Worker } from "node:worker_threads"
import type { Mutant } from "./Mutant.ts"

const packages = resolve(import.meta.dirname, "../../..")

const entry = `
import { parentPort, workerData } from "node:worker_threads"
import { simulateMany } from ${JSON.stringify(join(packages, "testkit/src/simulation/simulate.ts"))}
const { count, from } = workerData
let caught
const onFailure = ({ seed, violation }) => { caught = { seed, rule: violation.rule } }
for (let seed = from; seed < from + count && caught === undefined; seed++) await simulateMany({ from: seed, count: 1, onFailure })
parentPort.postMessage({ caught })
`

export interface Caught {
  readonly seed: number
  readonly rule: string
}

/** Builds one bundle for each mutant. Effect is bundled once for all, since linking it takes longer than everything else. */
export class Mutations {
  private builds = 0
  private readonly folder = mkdtemp(join(tmpdir(), "waybill-mutants-"))
  private effect: Promise<unknown> | undefined

  /** The first schedule of these that breaks a promise; `undefined` when none does. */
  async firstCaught(mutant: Mutant | undefined, range: { readonly from: number; readonly count: number }): Promise<Caught | undefined> {
    await (this.effect ??= this.buildEffect())
    return await run(await this.build(mutant), range)
  }

  async close(): Promise<void> {
    await rm(await this.folder, { recursive: true })
  }

  private async buildEffect(): Promise<void> {
    const specifiers = new Set<string>()
    await this.build(undefined, specifiers)
    await build({
      ...options,
      entryPoints: Object.fromEntries([...specifiers].map((specifier) => [specifier, specifier])),
      absWorkingDir: packages,
      outdir: await this.folder,
      splitting: true,
      outExtension: { ".js": ".mjs" }
    })
  }

  private async build(mutant: Mutant | undefined, specifiers?: Set<string>): Promise<string> {
    const outfile = join(await this.folder, `simulation-${this.builds++}.mjs`)
    await build({
      ...options,
      stdin: { contents: entry, resolveDir: packages, loader: "js" },
      outfile,
      plugins: [sharedEffect(specifiers), ...mutant === undefined ? [] : [mutation(mutant)]]
    })
    return outfile
  }
}

const options: BuildOptions = { bundle: true, format: "esm", platform: "node", conditions: ["@waybill/source"], logLevel: "error" }

/** Leaves Effect's modules to the files beside the bundle, and notes which there are. */
const sharedEffect = (specifiers?: Set<string>): Plugin => ({
  name: "shared-effect",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^effect(\/|$)/ }, ({ path }) => {
      specifiers?.add(path)
      return { path: `./${path}.mjs`, external: true }
    })
  }
})

const mutation = (mutant: Mutant): Plugin => ({
  name: mutant.name,
  setup: ({ onLoad }) => {
    const path = join(packages, mutant.file)
    onLoad({ filter: new RegExp(`${path.replaceAll(/[.\\/]/g, "\\$&")}$`) }, async () => ({ contents: mutated(await readFile(path, "utf8"), mutant), loader: "ts" }))
  }
})

const mutated = (text: string, { file, find, name, replace }: Mutant): string => {
  const found = text.split(find).length - 1
  if (found !== 1) throw new Error(`The mutant "${name}" finds its text ${found} times in ${file}.`)
  return text.replace(find, () => replace)
}

const run = (file: string, workerData: { readonly from: number; readonly count: number }) =>
  new Promise<Caught | undefined>((resolve, reject) => {
    const worker = new Worker(file, { workerData })
    worker.on("message", ({ caught }: { readonly caught: Caught | undefined }) => resolve(caught))
    worker.on("error", reject)
  })
