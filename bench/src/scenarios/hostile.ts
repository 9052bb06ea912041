/** Two hundred hostile receivers: when attempts end, memory, and the effect on other receivers. */
import { setTimeout as after } from "node:timers/promises"
import { startChild } from "../machine/Child.ts"
import type { HostileAddress, HostileHandlers } from "../machine/hostile-process.ts"
import { percentile } from "../measure/Stats.ts"
import type { HostileDestinationsHandlers } from "../waybill/hostile-destinations-process.ts"
import type { HostileSenderHandlers } from "../waybill/hostile-sender-process.ts"
import { type Bench, type Scenario, startContender, startMeasured } from "./Bench.ts"
import { delays } from "./latency.ts"

const receivers = 200

/** An attempt of the worker lasts no longer than this. */
const attemptMillis = 15_000

/** Every behaviour once, then repeated. */
const receiverUrls = (addresses: ReadonlyArray<HostileAddress>): ReadonlyArray<string> =>
  Array.from({ length: receivers }, (_, n) => addresses[n % addresses.length]!.url)

const attempts = async (bench: Bench, addresses: ReadonlyArray<HostileAddress>, ca: string) => {
  const child = await startChild<HostileSenderHandlers>(new URL("../waybill/hostile-sender-process.ts", import.meta.url), [ca], ["--expose-gc"])
  await child.call.warm(Array.from({ length: receivers }, (_, n) => `${bench.receiver.url}/warm-${n}`))
  const rounds = []
  for (let round = 0; round < (bench.quick ? 1 : 3); round++) rounds.push(await child.call.attemptAll(receiverUrls(addresses)))
  await child.end()
  return rounds
}

const often = { maxAttempts: 1000, initialBackoffSeconds: 1, maxBackoffSeconds: 1 }

/** The rate of `latency`, and a rate that uses three quarters of two processors without hostile receivers. */
const [quiet, busy] = [50, 200]

/** A few pauses of a process decide the p99 of one round, so all rounds count together. Two keep the scenario within four minutes. */
const backlogs = [
  { label: "hostile destinations with the default policy", perSecond: quiet, shipments: 50, delivery: {} },
  { label: "the same on a busy machine", perSecond: busy, shipments: 50, delivery: {} },
  { label: "retried every second, one shipment each", perSecond: quiet, shipments: 1, delivery: often },
  { label: "retried every second, 50 shipments each", perSecond: quiet, shipments: 50, delivery: often }
]

const roundsOfEach = 2

/** Events of healthy destinations in one round: at the lower rate six seconds, at the higher one five. */
const eventsOf = (perSecond: number) => Math.max(300, 5 * perSecond)

/**
 * Healthy destinations without and with hostile destinations, in turn. The burst after hostile destinations are resumed is measured separately.
 * `idle`: the process of the case before has ended, which waits ten seconds for its last attempts.
 */
const measure = async (
  bench: Bench,
  addresses: ReadonlyArray<HostileAddress>,
  { delivery, perSecond, shipments }: typeof backlogs[number],
  idle: Promise<void>
) => {
  const rounds = bench.quick ? 1 : roundsOfEach
  const count = bench.quick ? perSecond : eventsOf(perSecond)
  const contender = await startContender(bench, "waybill", { tuned: "latency", destinations: bench.quick ? 50 : 1000, batchMaxSize: 200 })
  const destinations = await startMeasured<HostileDestinationsHandlers>(bench, new URL("../waybill/hostile-destinations-process.ts", import.meta.url), [contender.database])
  await destinations.call.add(receiverUrls(addresses), shipments, delivery)
  await bench.postgres.settle(contender.database)
  await idle
  await contender.call.start()
  await delays(bench, contender, { count: busy, perSecond: busy })
  const found = { without: [] as Array<ReadonlyArray<number>>, first: [] as Array<ReadonlyArray<number>>, withHostile: [] as Array<ReadonlyArray<number>>, attempts: 0 }
  for (let round = 0; round < rounds; round++) {
    found.without.push(await delays(bench, contender, { count, perSecond }))
    await destinations.call.resume()
    found.first.push(await delays(bench, contender, { count: perSecond * (bench.quick ? 1 : 3), perSecond }))
    found.withHostile.push(await delays(bench, contender, { count, perSecond }))
    await destinations.call.pause()
    if (round < rounds - 1) await after(attemptMillis + 1000)
  }
  found.attempts = await destinations.call.attempts()
  if (found.attempts === 0) throw new Error("Nothing was sent to the hostile destinations.")
  await destinations.end()
  return { found, ended: contender.call.stop().then(contender.end) }
}

export const hostile: Scenario = {
  name: "hostile",
  title: "attempts to 200 hostile receivers, and 1,000 healthy destinations with 50 and 200 events a second during those attempts",
  run: async (bench) => {
    const child = await startChild<HostileHandlers>(new URL("../machine/hostile-process.ts", import.meta.url), [])
    const addresses = await child.call.addresses()
    const lines = []
    const verdicts = []
    const rounds = await attempts(bench, addresses, await child.call.ca())
    const worst = (of: (round: typeof rounds[number]) => number) => Math.max(...rounds.map(of))
    const megabytes = 2 ** 20
    const late = rounds.reduce((a, b) => a.overMillis >= b.overMillis ? a : b)
    const over = { label: "latest of 200 concurrent attempts, past its deadline", value: late.overMillis, unit: "ms" as const }
    const most = { label: "maximum memory over idle, 200 concurrent attempts", value: worst(({ mostBytes }) => mostBytes) / megabytes, unit: "MB" as const }
    const left = { label: "memory over idle afterwards", value: worst(({ leftBytes }) => leftBytes) / megabytes, unit: "MB" as const }
    lines.push(
      { ...over, rounds: rounds.map(({ overMillis }) => overMillis), note: `${addresses.length} behaviours, the latest at ${late.latest}` },
      { ...most, rounds: rounds.map(({ mostBytes }) => mostBytes / megabytes) },
      { ...left, rounds: rounds.map(({ leftBytes }) => leftBytes / megabytes) }
    )
    verdicts.push({ label: over.label, ratio: over.value, target: 250, better: "lower" as const })
    for (const { label, value } of [most, left]) verdicts.push({ label, ratio: value, target: 64, better: "lower" as const })
    let idle = Promise.resolve()
    for (const backlog of backlogs) {
      const { label } = backlog
      const { ended, found } = await measure(bench, addresses, backlog, idle)
      idle = ended
      for (const [what, rounds] of [["without them", found.without], ["in the first seconds", found.first], ["with them", found.withHostile]] as const) {
        for (const share of [0.5, 0.99]) {
          const each = rounds.map((millis) => percentile(millis, share))
          const value = percentile(rounds.flat(), share)
          lines.push({ label: `${label}: healthy destinations ${what}, p${share * 100}`, value, unit: "ms" as const, rounds: each, note: `${found.attempts} hostile attempts` })
        }
      }
      const p99 = (rounds: ReadonlyArray<ReadonlyArray<number>>) => percentile(rounds.flat(), 0.99)
      verdicts.push({ label: `${label}: p99 of healthy destinations`, ratio: p99(found.withHostile) / p99(found.without), target: 1.5, better: "lower" as const })
    }
    await idle
    const inside = await child.call.inside()
    await child.end()
    return { lines, verdicts, remarks: [`Connections to the internal address: ${inside}.`, "The hostile receivers run at the lowest priority; on few processors they still slow down the others."] }
  }
}
