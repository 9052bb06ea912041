/** The simulation with one change to the engine's or the store's text, in a thread of its own. */
import { build, type Plugin } from "esbuild"
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

/** The first schedule of these that breaks a promise; `undefined` when none does. */
export const firstCaught = async (mutant: Mutant | undefined, range: { readonly from: number; readonly count: number }): Promise<Caught | undefined> => {
  const folder = await mkdtemp(join(tmpdir(), "waybill-mutant-"))
  try {
    const outfile = join(folder, "simulation.mjs")
    await build({
      stdin: { contents: entry, resolveDir: packages, loader: "js" },
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      conditions: ["@waybill/source"],
      logLevel: "error",
      plugins: mutant === undefined ? [] : [mutation(mutant)]
    })
    return await run(outfile, range)
  } finally {
    await rm(folder, { recursive: true })
  }
}

const mutation = ({ file, find, name, replace }: Mutant): Plugin => ({
  name,
  setup: ({ onLoad }) => {
    const path = join(packages, file)
    onLoad({ filter: new RegExp(`${path.replaceAll(/[.\\/]/g, "\\$&")}$`) }, async () => {
      const text = await readFile(path, "utf8")
      const found = text.split(find).length - 1
      if (found !== 1) throw new Error(`The mutant "${name}" finds its text ${found} times in ${file}.`)
      return { contents: text.replace(find, () => replace), loader: "ts" }
    })
  }
})

const run = (file: string, workerData: { readonly from: number; readonly count: number }) =>
  new Promise<Caught | undefined>((resolve, reject) => {
    const worker = new Worker(file, { workerData })
    worker.on("message", ({ caught }: { readonly caught: Caught | undefined }) => resolve(caught))
    worker.on("error", reject)
  })
