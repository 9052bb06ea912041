/** The environment of a scenario: a Postgres, a receiver, and processes to measure. */
import { setTimeout as after } from "node:timers/promises"
import { type Child, type Handlers, type Remote, startChild } from "../machine/Child.ts"
import type { PostgresServer } from "../machine/PostgresServer.ts"
import type { ReceiverHandlers } from "../machine/receiver-process.ts"
import { perEvent, processorMicros, type ProcessorTime, sumOf } from "../measure/ProcessorTime.ts"
import type { Line, ScenarioResult, Verdict } from "../measure/Report.ts"
import { median } from "../measure/Stats.ts"
import type { ContenderOptions } from "../peers/Contender.ts"
import type { ContenderHandlers } from "../peers/contender-process.ts"

export interface Bench {
  readonly postgres: PostgresServer
  readonly receiver: Remote<ReceiverHandlers> & { readonly url: string; readonly pid: number }
  /** Small numbers, only to show that everything runs. */
  readonly quick: boolean
  /** The directory for CPU profiles of Waybill's processes, if wanted. */
  readonly profiles: string | undefined
}

export interface Scenario {
  readonly name: string
  readonly title: string
  readonly run: (bench: Bench) => Promise<Omit<ScenarioResult, "name" | "title">>
}

/** A process that may be profiled. */
export const startMeasured = <H extends Handlers>(
  bench: Bench,
  module: URL,
  args: ReadonlyArray<string>,
  execArgv: ReadonlyArray<string> = []
): Promise<Child<H>> =>
  startChild<H>(module, args, bench.profiles === undefined ? execArgv : [...execArgv, "--cpu-prof", `--cpu-prof-dir=${bench.profiles}`])

export interface ContenderProcess extends Child<ContenderHandlers> {
  readonly name: string
  readonly database: string
}

const contenderModule = new URL("../peers/contender-process.ts", import.meta.url)

export const publisherModule = new URL("../waybill/publisher-process.ts", import.meta.url)

/** One contender in its own process, with its own database. */
export const startContender = async (
  bench: Bench,
  name: string,
  options: Omit<ContenderOptions, "database" | "receiver">,
  execArgv: ReadonlyArray<string> = []
): Promise<ContenderProcess> => {
  const database = await bench.postgres.database(`bench_${name.replaceAll("-", "_")}`)
  const args = [name, JSON.stringify({ ...options, database, receiver: bench.receiver.url } satisfies ContenderOptions)]
  const child = name === "waybill"
    ? await startMeasured<ContenderHandlers>(bench, contenderModule, args, execArgv)
    : await startChild<ContenderHandlers>(contenderModule, args, execArgv)
  return { ...child, name, database }
}

/** One more process of the same contender, on the database of the first, without destinations. */
export const joinContender = async (
  bench: Bench,
  { database, name }: ContenderProcess,
  options: Omit<ContenderOptions, "database" | "receiver" | "destinations">
): Promise<ContenderProcess> => {
  const args = [name, JSON.stringify({ ...options, destinations: 0, database, receiver: bench.receiver.url } satisfies ContenderOptions)]
  return { ...await startMeasured<ContenderHandlers>(bench, contenderModule, args), name, database }
}

interface DrainResult {
  /** Events a second, from the start of the workers, or from the first request if that is earlier, to the last request. */
  readonly perSecond: number
  readonly requests: number
  /** Of one event; undefined outside Linux. */
  readonly processor: ProcessorTime | undefined
  /** The peak memory of the process. */
  readonly mostBytes: number
}

/** Fills, waits until the disk is idle if requested, and drains. */
export const drainRound = async (bench: Bench, contender: ContenderProcess, count: number, { settled = true } = {}): Promise<DrainResult> => {
  await contender.call.fill(count)
  if (settled) await bench.postgres.settle(contender.database)
  await bench.receiver.reset({})
  const before = processorTime(bench, contender)
  const { mostBytes, startedAt } = await unlessStalled(bench, contender, contender.call.drain(count))
  const { first, last, requests } = await bench.receiver.counted()
  const processor = spentSince(before, processorTime(bench, contender), count)
  return { perSecond: count * 1000 / (last - Math.min(first, startedAt)), requests, mostBytes, processor }
}

const processorTime = ({ postgres, receiver }: Bench, { pid }: ContenderProcess): ProcessorTime | undefined => {
  const [sender, database, received] = [pid, postgres.pid, receiver.pid].map(processorMicros)
  return sender === undefined || database === undefined || received === undefined ? undefined : { sender, postgres: database, receiver: received }
}

const spentSince = (before: ProcessorTime | undefined, after: ProcessorTime | undefined, events: number): ProcessorTime | undefined =>
  before === undefined || after === undefined ? undefined : {
    sender: (after.sender - before.sender) / events,
    postgres: (after.postgres - before.postgres) / events,
    receiver: (after.receiver - before.receiver) / events
  }

const stallMillis = 60_000

/** Fails when nothing arrives for a long time, instead of waiting forever. */
const unlessStalled = async <A>(bench: Bench, contender: ContenderProcess, drain: Promise<A>): Promise<A> => {
  const done = new AbortController()
  const watch = async (): Promise<never> => {
    for (let before = -1;;) {
      await after(stallMillis, undefined, { signal: done.signal })
      const { requests } = await bench.receiver.counted()
      if (requests === before) throw new Error(`${contender.name} delivers nothing any more, after ${requests} requests.`)
      before = requests
    }
  }
  try {
    return await Promise.race([drain, watch()])
  } finally {
    done.abort()
  }
}

/** The results of one contender over all rounds. */
interface Rounds {
  readonly rates: ReadonlyArray<number>
  /** Of one event, the median of the rounds by process; undefined outside Linux. */
  readonly processor: ProcessorTime | undefined
}

/** Runs every contender once per round, in turn, after one warm-up round. */
export const alternate = async (
  bench: Bench,
  contenders: ReadonlyArray<ContenderProcess>,
  options: { readonly rounds: number; readonly count: (contender: ContenderProcess) => number }
): Promise<ReadonlyMap<string, Rounds>> => {
  const results = new Map<string, Array<DrainResult>>(contenders.map(({ name }) => [name, []]))
  for (let round = 0; round <= options.rounds; round++) {
    for (const contender of contenders) {
      const result = await drainRound(bench, contender, options.count(contender))
      if (round > 0) results.get(contender.name)!.push(result)
    }
  }
  return new Map(Array.from(results, ([name, rounds]) => [name, { rates: rounds.map(({ perSecond }) => perSecond), processor: medianOf(rounds) }]))
}

const medianOf = (rounds: ReadonlyArray<DrainResult>): ProcessorTime | undefined => {
  const known = rounds.flatMap(({ processor }) => processor === undefined ? [] : [processor])
  if (known.length === 0) return undefined
  const of = (process: keyof ProcessorTime) => median(known.map((each) => each[process]))
  return { sender: of("sender"), postgres: of("postgres"), receiver: of("receiver") }
}

/** A line of a contender's rate with its processor time. */
export const rateLine = (label: string, { processor, rates }: Rounds): Line => ({
  label,
  value: median(rates),
  unit: "/s",
  rounds: rates,
  ...(processor === undefined ? {} : { note: perEvent(processor) })
})

/** The processor time of one event to that of the peer with the better rate. */
export const processorVerdict = (own: Rounds, peers: ReadonlyArray<Rounds>, target: number): ReadonlyArray<Verdict> => {
  const better = peers.toSorted((a, b) => median(b.rates) - median(a.rates))[0]
  if (own.processor === undefined || better?.processor === undefined) return []
  return [{ label: "processor time of an event, to the better peer", ratio: sumOf(own.processor) / sumOf(better.processor), target, better: "lower" }]
}
