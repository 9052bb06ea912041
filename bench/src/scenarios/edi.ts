/** Reading EDI: 214 per second, and memory for an interchange of 100 MB. */
import { median } from "../measure/Stats.ts"
import type { Line } from "../measure/Report.ts"
import type { EdiHandlers } from "../waybill/edi-process.ts"
import { type Scenario, startMeasured } from "./Bench.ts"

const module = new URL("../waybill/edi-process.ts", import.meta.url)

/** About 340 bytes each. */
const setsOf100MB = 300_000

export const edi: Scenario = {
  name: "edi",
  title: "214 read per second, and memory for 100 MB",
  run: async (bench) => {
    const sets = bench.quick ? 5_000 : setsOf100MB
    const rounds: Array<{ readonly divided: number; readonly read: number; readonly memory: number; readonly bytes: number }> = []
    for (let n = 0; n < (bench.quick ? 2 : 3); n++) {
      const process = await startMeasured<EdiHandlers>(bench, module, [])
      const divided = await process.call.divide(sets)
      const read = await process.call.receive(sets)
      await process.end()
      rounds.push({ divided: sets / divided.millis * 1000, read: sets / read.millis * 1000, memory: Math.max(divided.memory, read.memory) / 1e6, bytes: read.bytes / 1e6 })
    }
    const line = (label: string, of: keyof (typeof rounds)[number], unit: Line["unit"], note?: string): Line => {
      const values = rounds.slice(1).map((round) => round[of])
      return { label, value: median(values), unit, rounds: values, ...note === undefined ? {} : { note } }
    }
    const memory = line("added resident memory", "memory", "MB", `of an interchange of ${Math.round(rounds[0]!.bytes)} MB`)
    return {
      lines: [line("214 divided and checked", "divided", "/s"), line("214 made events and acknowledged", "read", "/s", "without storing them"), memory],
      verdicts: [{ label: "added memory, MB", ratio: memory.value, target: 200, better: "lower" }]
    }
  }
}
