/** The highest cost of one request for others: blocking of the event loop, and added memory. */
import { request } from "node:http"
import { setTimeout as after } from "node:timers/promises"
import type { RequestsHandlers } from "../waybill/requests-process.ts"
import { type Send, storeLargeRecords } from "../waybill/LargeResponses.ts"
import { type RequestCall, costlyBodies } from "../waybill/CostlyBodies.ts"
import { type Bench, type Scenario, startMeasured } from "./Bench.ts"

/** Smaller bodies and responses cannot be distinguished from other allocations. */
const measuredBytes = 1024 * 1024

/** Longer blocks are measured three times. */
const suspiciousMillis = 30

interface Answered {
  readonly status: number
  /** The beginning of the response, or all of a short one. */
  readonly text: string
  readonly sentBytes: number
  readonly answeredBytes: number
}

interface Cost extends RequestCall, Answered {
  readonly blockedMillis: number
  readonly addedBytes: number
}

const nameOf = ({ endpoint, label }: RequestCall): string => `${endpoint}, ${label}`

/** The larger one of request and response. */
const sizeOf = ({ answeredBytes, sentBytes }: Answered): number => Math.max(answeredBytes, sentBytes)

const keptText = 100_000

const sendTo = (port: number, keys: Readonly<Record<string, string>>) => (call: Parameters<Send>[0], attempt = 0): Promise<Answered> =>
  Promise.resolve(call.body(attempt)).then((body) => new Promise((resolve, reject) => {
    const headers = { "x-api-key": keys[call.as]!, ...(body === undefined ? {} : { "content-type": call.contentType!, "content-length": Buffer.byteLength(body) }) }
    const asking = request({ port, host: "127.0.0.1", method: call.method, path: call.path, headers }, (answer) => {
      let text = ""
      let answeredBytes = 0
      answer.on("data", (piece: Buffer) => {
        answeredBytes += piece.length
        if (text.length < keptText) text += piece.toString("latin1")
      })
      answer.on("end", () => resolve({ status: answer.statusCode!, text, sentBytes: body === undefined ? 0 : Buffer.byteLength(body), answeredBytes }))
      answer.on("error", reject)
    })
    // a body may be refused before all of it was sent
    asking.on("error", (error) => (error as NodeJS.ErrnoException).code === "EPIPE" ? undefined : reject(error))
    asking.end(body)
  }))

const measure = async (bench: Bench) => {
  const database = await bench.postgres.database("bench_requests")
  const server = await startMeasured<RequestsHandlers>(bench, new URL("../waybill/requests-process.ts", import.meta.url), [database], ["--expose-gc"])
  const { keys, port } = await server.call.listen(10_000)
  const send = sendTo(port, keys)
  const only = process.env["BENCH_REQUESTS"]

  const calls = [...costlyBodies(bench.quick), ...await storeLargeRecords(database, bench.quick, send)].filter((call) => only === undefined || only.split("|").some((part) => nameOf(call).includes(part)))

  if (!bench.quick) await bench.postgres.settle(database)

  // warm up, because code that never ran is slow
  for (const call of calls) if (!bench.quick) await send(call, 0)

  const costs: Array<Cost> = []
  for (const call of calls) {
    const ask = async (attempt: number, step?: number) => {
      await server.call.begin(step)
      await after(5)
      const answered = await send(call, attempt)
      await after(5)
      return { ...answered, ...await server.call.end() }
    }
    const first = await ask(1)
    // a garbage collection may be for earlier calls; the cost of this call repeats every time
    const again = first.blockedMillis < suspiciousMillis ? [] : [await ask(2), await ask(3)]
    const blockedMillis = Math.min(first.blockedMillis, ...again.map((each) => each.blockedMillis))
    const { addedBytes } = sizeOf(first) < measuredBytes ? { addedBytes: 0 } : await ask(4, Math.max(2e6, sizeOf(first) / 4))
    const cost = { ...call, ...first, blockedMillis, addedBytes }
    costs.push(cost)
    if (only !== undefined || call.accepted) {
      console.log(`    ${nameOf(call)}: ${cost.status} ${[first, ...again].map(({ blockedMillis }) => blockedMillis.toFixed(1)).join(" ")} ms, ${(cost.addedBytes / 1e6).toFixed(1)} MB of ${(sizeOf(cost) / 1e6).toFixed(2)} MB ${cost.status >= 300 ? cost.text.slice(0, 200) : ""}`)
    }
    if (call.accepted && cost.status >= 300) throw new Error(`${nameOf(call)} was refused: ${cost.status} ${cost.text.slice(0, 300)}`)
    if (cost.status >= 500) throw new Error(`${nameOf(call)} failed: ${cost.status}.`)
  }
  await server.end()
  return costs
}

export const requests: Scenario = {
  name: "requests",
  title: "the most expensive bodies and responses of every call: longest block of the event loop, memory added per byte",
  run: async (bench) => {
    const costs = await measure(bench)
    const longest = costs.toSorted((a, b) => b.blockedMillis - a.blockedMillis)
    const measured = costs.filter((cost) => sizeOf(cost) >= measuredBytes)
    const factor = (cost: Cost): number => cost.addedBytes / sizeOf(cost)
    const heaviest = measured.toSorted((a, b) => factor(b) - factor(a))
    return {
      lines: [
        ...longest.slice(0, 5).map((cost) => ({ label: nameOf(cost), value: cost.blockedMillis, unit: "ms" as const, note: `${cost.status}` })),
        ...heaviest.slice(0, 5).map((cost) => ({ label: nameOf(cost), value: factor(cost), unit: "x" as const, note: `${(sizeOf(cost) / 1e6).toFixed(1)} MB, ${cost.status}` }))
      ],
      verdicts: [
        { label: `longest block of the event loop in ms, worst of ${costs.length} requests to ${new Set(costs.map(({ endpoint }) => endpoint)).size} calls`, ratio: longest[0]!.blockedMillis, target: 50, better: "lower" as const },
        { label: `memory added, times the larger of body and response, worst of ${measured.length} of 1 MB and more`, ratio: factor(heaviest[0]!), target: 10, better: "lower" as const }
      ]
    }
  }
}
