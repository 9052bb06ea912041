/** Runs the simulation with one mutant of the engine or the store, in separate threads. */
import { build, type Plugin } from "esbuild"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { Worker } from "node:worker_threads"
import type { Mutant } from "./Mutant.ts"

const packages = resolve(import.meta.dirname, "../../packages")

/**
 * A thread makes a simulation for each mutant out of one function, so that its code is compiled once; all of them share one
 * copy of effect, whose code is hot by then. A thread for each mutant would spend most of its time on that.
 */
const thread = `
const { createRequire } = require("node:module")
const { readFileSync } = require("node:fs")
const { Script } = require("node:vm")
const { parentPort, workerData: { file, testkit } } = require("node:worker_threads")
const requireOfTestkit = createRequire(testkit)
const make = new Script("(function (chosenMutant, module, require) {" + readFileSync(file, "utf8") + "\\n})", { filename: file }).runInThisContext()
const simulations = new Map()
const simulationOf = (mutant) => {
  if (simulations.has(mutant)) return simulations.get(mutant)
  const module = { exports: {} }
  make(mutant, module, requireOfTestkit)
  simulations.clear()
  simulations.set(mutant, module.exports.simulateMany)
  return module.exports.simulateMany
}
parentPort.on("message", async ({ mutant, count, from }) => {
  const simulateMany = simulationOf(mutant)
  let caught
  const onFailure = ({ seed, violation }) => { caught = { seed, rule: violation.rule } }
  for (let seed = from; seed < from + count && caught === undefined; seed++) await simulateMany({ from: seed, count: 1, onFailure })
  parentPort.postMessage(caught)
})
`

interface Caught {
  readonly seed: number
  readonly rule: string
}

export interface Range {
  readonly from: number
  readonly count: number
}

/** One bundle with all mutants. A bundle for each mutant would take most of the test's time. */
export interface MutatedSimulation {
  /** The first schedule of the range that violates an invariant; `undefined` if there is none. */
  readonly firstCaught: (mutant: Mutant | undefined, range: Range) => Promise<Caught | undefined>
  readonly remove: () => Promise<void>
}

export const bundleMutants = async (mutants: ReadonlyArray<Mutant>, threads: number): Promise<MutatedSimulation> => {
  const folder = await mkdtemp(join(tmpdir(), "waybill-mutants-"))
  const file = join(folder, "simulation.cjs")
  await build({
    entryPoints: [resolve(import.meta.dirname, "../src/simulate.ts")],
    outfile: file,
    bundle: true,
    format: "cjs",
    platform: "node",
    conditions: ["@waybill/source"],
    external: ["effect"],
    // core names its own file in an error, with import.meta, which this format does not have
    logOverride: { "empty-import-meta": "silent" },
    logLevel: "error",
    plugins: [mutation(mutants)]
  })
  const workers = Array.from({ length: threads }, () => new Worker(thread, { eval: true, workerData: { file, testkit: join(packages, "testkit/package.json") } }))
  const idle = [...workers]
  const waiting: Array<(worker: Worker) => void> = []
  const release = (worker: Worker) => {
    const next = waiting.shift()
    if (next === undefined) idle.push(worker)
    else next(worker)
  }
  return {
    firstCaught: async (mutant, range) => {
      const worker = idle.pop() ?? await new Promise<Worker>((resolve) => waiting.push(resolve))
      try {
        return await run(worker, { ...range, mutant: mutant?.name })
      } finally {
        release(worker)
      }
    },
    remove: async () => {
      await Promise.all(workers.map((worker) => worker.terminate()))
      await rm(folder, { recursive: true })
    }
  }
}

const run = (worker: Worker, task: Range & { readonly mutant: string | undefined }) =>
  new Promise<Caught | undefined>((resolve, reject) => {
    const answered = (caught: Caught | undefined) => {
      worker.off("error", reject)
      resolve(caught)
    }
    worker.once("error", reject)
    worker.once("message", answered)
    worker.postMessage(task)
  })

/** Replaces a mutated module: exports the original, or the mutant that the simulation is made for. Only that one is evaluated. */
const switchOf = (path: string, text: string, mutants: ReadonlyArray<Mutant>): string => {
  const names = Array.from(text.matchAll(/^export (?:const|class|function\*?) (\w+)/gm), ([, name]) => name!)
  const cases = mutants.map(({ name }) => `chosenMutant === ${JSON.stringify(name)} ? require(${JSON.stringify(`${path}?${name}`)}) : `)
  return `export const { ${names.join(", ")} } = ${cases.join("")}require(${JSON.stringify(`${path}?`)})`
}

const mutation = (mutants: ReadonlyArray<Mutant>): Plugin => ({
  name: "mutation",
  setup: ({ onLoad, onResolve }) => {
    const files = [...new Set(mutants.map(({ file }) => join(packages, file)))]
    const escaped = files.map((file) => file.replaceAll(/[.\\/]/g, "\\$&"))
    onResolve({ filter: new RegExp(`^(?:${escaped.join("|")})\\?`) }, ({ path }) => ({ path, namespace: "variant" }))
    onLoad({ filter: new RegExp(`^(?:${escaped.join("|")})$`), namespace: "file" }, async ({ path }) => ({
      contents: switchOf(path, await readFile(path, "utf8"), mutants.filter(({ file }) => join(packages, file) === path)),
      loader: "js"
    }))
    onLoad({ filter: /\?/, namespace: "variant" }, async ({ path: variant }) => {
      const [path, name] = [variant.slice(0, variant.indexOf("?")), variant.slice(variant.indexOf("?") + 1)]
      const text = await readFile(path, "utf8")
      return { contents: name === "" ? text : changedBy(mutants.find((mutant) => mutant.name === name)!, text), loader: "ts", resolveDir: dirname(path) }
    })
  }
})

const changedBy = ({ file, find, name, replace }: Mutant, text: string): string => {
  const found = text.split(find).length - 1
  if (found !== 1) throw new Error(`The mutant "${name}" finds its text ${found} times in ${file}.`)
  return text.replace(find, () => replace)
}
