/** Start time of the service in memory. */
import type { Line } from "../measure/Report.ts"
import { median } from "../measure/Stats.ts"
import type { TestkitHandlers } from "../waybill/testkit-process.ts"
import { type Bench, type Scenario, startMeasured } from "./Bench.ts"

const module = new URL("../waybill/testkit-process.ts", import.meta.url)

const targetMillis = 50

const laterStarts = 20

interface Round {
  readonly effect: number
  readonly load: number
  readonly loadToStarted: number
  readonly first: number
  readonly later: number
}

/** Two new processes, because loaded modules stay loaded. */
const measure = async (bench: Bench): Promise<Round> => {
  const beneath = await startMeasured<TestkitHandlers>(bench, module, [])
  const effect = await beneath.call.loadEffect()
  await beneath.end()
  const process = await startMeasured<TestkitHandlers>(bench, module, [])
  const load = await process.call.load()
  const [first, ...later] = await process.call.starts(1 + laterStarts) as [number, ...Array<number>]
  await process.end()
  return { effect, load, loadToStarted: load + first, first, later: median(later) }
}

export const testkit: Scenario = {
  name: "testkit",
  title: "duration of startTestWaybill in new processes",
  run: async (bench) => {
    const rounds: Array<Round> = []
    for (let n = 0; n < (bench.quick ? 2 : 11); n++) rounds.push(await measure(bench))
    const line = (label: string, of: keyof Round, note?: string): Line => {
      const values = rounds.map((round) => round[of])
      return { label, value: median(values), unit: "ms", rounds: values, ...(note === undefined ? {} : { note }) }
    }
    const first = line("first start of a process", "first")
    const later = line("every further start", "later", `the median of ${laterStarts}`)
    return {
      lines: [
        line("import of effect alone", "effect", "once in a process; the library beneath, which tests of a host may have loaded anyway"),
        line("import of @waybill/testkit", "load", "once in a process; from source, types stripped on the way"),
        line("import to started", "loadToStarted"),
        first,
        later
      ],
      verdicts: [first, later].map(({ label, value }) => ({ label: `${label}, ms`, ratio: value, target: targetMillis, better: "lower" as const }))
    }
  }
}
