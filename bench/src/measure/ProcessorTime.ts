/** Processor time of processes, from `/proc`: on a busy machine it is more meaningful than a rate. Not available outside Linux. */
import { readdirSync, readFileSync } from "node:fs"

/** `CLK_TCK` of every Linux that Node runs on. */
const microsPerTick = 10_000

/** Microseconds of user and system time. */
export interface ProcessorTime {
  readonly sender: number
  /** With back ends that have ended. */
  readonly postgres: number
  readonly receiver: number
}

interface Stat {
  readonly parent: number
  /** Own ticks, and those of children that have ended. */
  readonly ticks: number
}

const statOf = (pid: number): Stat | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8")
    // the name of the program may contain any character and ends with the last parenthesis
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ").map(Number)
    return { parent: fields[1]!, ticks: fields[11]! + fields[12]! + fields[13]! + fields[14]! }
  } catch {
    return undefined
  }
}

/** Of a process, its descendants and those of them that have ended. `undefined` outside Linux. */
export const processorMicros = (pid: number): number | undefined => {
  const own = statOf(pid)
  if (own === undefined) return undefined
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map((name) => [Number(name), statOf(Number(name))] as const)
  const descendants = new Set([pid])
  for (let before = 0; before < descendants.size;) {
    before = descendants.size
    for (const [each, stat] of all) if (stat !== undefined && descendants.has(stat.parent)) descendants.add(each)
  }
  return all.reduce((sum, [each, stat]) => descendants.has(each) && stat !== undefined ? sum + stat.ticks * microsPerTick : sum, 0)
}

/** Of one event, by process, as text: `35 + 17 + 9 µs`. */
export const perEvent = ({ postgres, receiver, sender }: ProcessorTime): string =>
  `${[sender, postgres, receiver].map((micros) => micros.toFixed(1)).join(" + ")} µs of processor time (sender, Postgres, receiver)`

export const sumOf = ({ postgres, receiver, sender }: ProcessorTime): number => sender + postgres + receiver
