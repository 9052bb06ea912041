/** Runs the simulation in a separate thread, with one mutant of the engine or the store. */
import { build, type Plugin } from "esbuild"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
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

export interface Range {
  readonly from: number
  readonly count: number
}

/** One bundle with all mutants; each thread chooses one of them, or none. Separate bundles would take most of the test's time. */
export interface MutatedSimulation {
  /** The first schedule of the range that violates an invariant; `undefined` if there is none. */
  readonly firstCaught: (mutant: Mutant | undefined, range: Range) => Promise<Caught | undefined>
  readonly remove: () => Promise<void>
}

export const bundleMutants = async (mutants: ReadonlyArray<Mutant>): Promise<MutatedSimulation> => {
  const folder = await mkdtemp(join(tmpdir(), "waybill-mutants-"))
  const outfile = join(folder, "simulation.mjs")
  await build({
    stdin: { contents: entry, resolveDir: packages, loader: "js" },
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    conditions: ["@waybill/source"],
    logLevel: "error",
    plugins: [mutation(mutants)]
  })
  return {
    firstCaught: (mutant, range) => run(outfile, { ...range, mutant: mutant?.name }),
    remove: () => rm(folder, { recursive: true })
  }
}

/** Replaces a mutated module: imports the original and each mutant, and exports the one that the thread chooses. */
const switchOf = (path: string, text: string, mutants: ReadonlyArray<Mutant>): string => {
  const names = Array.from(text.matchAll(/^export (?:const|class|function\*?) (\w+)/gm), ([, name]) => name!)
  const changed = mutants.map((mutant, at) => ({ at, name: JSON.stringify(mutant.name), module: JSON.stringify(`${path}?${mutant.name}`) }))
  return `
import { workerData } from "node:worker_threads"
import * as original from ${JSON.stringify(`${path}?`)}
${changed.map(({ at, module }) => `import * as changed${at} from ${module}`).join("\n")}
const chosen = { ${changed.map(({ at, name }) => `${name}: changed${at}`).join(", ")} }[workerData.mutant] ?? original
export const { ${names.join(", ")} } = chosen
`
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

const run = (file: string, workerData: Range & { readonly mutant: string | undefined }) =>
  new Promise<Caught | undefined>((resolve, reject) => {
    const worker = new Worker(file, { workerData })
    worker.on("message", ({ caught }: { readonly caught: Caught | undefined }) => resolve(caught))
    worker.on("error", reject)
  })
