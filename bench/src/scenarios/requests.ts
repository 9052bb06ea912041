/** What one request may cost everybody else: how long it holds the event loop, and what memory it adds, whatever it is. */
import { setTimeout as after } from "node:timers/promises"
import type { RequestsHandlers } from "../waybill/requests-process.ts"
import { type WorstBody, worstBodies } from "../waybill/WorstBodies.ts"
import { type Scenario, startMeasured } from "./Bench.ts"

/** Smaller bodies drown in what the process allocates anyway. */
const weighedBytes = 1024 * 1024

/** Longer holds are measured three times. */
const suspiciousMillis = 30

interface Cost extends WorstBody {
  readonly holdMillis: number
  readonly addedBytes: number
  readonly status: number
}

const nameOf = ({ endpoint, label }: WorstBody): string => `${endpoint}, ${label}`

export const requests: Scenario = {
  name: "requests",
  title: "the worst bodies of every call: longest hold of the event loop, memory added for each byte",
  run: async (bench) => {
    const database = await bench.postgres.database("bench_requests")
    const server = await startMeasured<RequestsHandlers>(bench, new URL("../waybill/requests-process.ts", import.meta.url), [database], ["--expose-gc"])
    const { keys, port } = await server.call.listen(1000)
    const send = async ({ as, body, contentType, method, path }: WorstBody) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers: { "x-api-key": keys[as], "content-type": contentType }, body })
      return { status: answer.status, text: await answer.text() }
    }
    const bodies = worstBodies(bench.quick)
    const only = process.env["BENCH_REQUESTS"]
    const costs: Array<Cost> = []
    // code that never ran is slow for reasons of its own
    for (const body of bodies.filter(({ accepted, body: text }) => !accepted || text.length < 1 << 22)) if (!bench.quick || body.accepted) await send(body)
    for (const body of bodies) {
      if (only !== undefined && !nameOf(body).includes(only)) continue
      const ask = async () => {
        await server.call.begin()
        await after(5)
        const { status, text } = await send(body)
        await after(5)
        return { status, text, ...await server.call.end() }
      }
      const first = await ask()
      const { status, text } = first
      // a collection of what others left behind is no cost of this one; what holds the loop does so every time
      const again = first.holdMillis < suspiciousMillis || body.accepted ? [] : [await ask(), await ask()]
      const cost = { ...body, ...first, holdMillis: Math.min(first.holdMillis, ...again.map((each) => each.holdMillis)) }
      costs.push(cost)
      if (process.env["BENCH_REQUESTS"] !== undefined || body.accepted) console.log(`    ${nameOf(body)}: ${status} ${cost.holdMillis.toFixed(1)} ms, ${(cost.addedBytes / 1e6).toFixed(1)} MB of ${(body.body.length / 1e6).toFixed(2)} MB ${status >= 300 ? text.slice(0, 200) : ""}`)
      if (body.accepted && status >= 300 && only === undefined) throw new Error(`${nameOf(body)} is refused: ${status} ${text.slice(0, 300)}`)
      if (status >= 500) throw new Error(`${nameOf(body)} is answered with ${status}.`)
    }
    await server.end()
    const longest = costs.toSorted((a, b) => b.holdMillis - a.holdMillis)
    const weighed = costs.filter(({ body }) => body.length >= weighedBytes)
    const factor = ({ addedBytes, body }: Cost): number => addedBytes / body.length
    const heaviest = weighed.toSorted((a, b) => factor(b) - factor(a))
    return {
      lines: [
        ...longest.slice(0, 5).map((cost) => ({ label: nameOf(cost), value: cost.holdMillis, unit: "ms" as const, note: `${cost.status}` })),
        ...heaviest.slice(0, 5).map((cost) => ({ label: nameOf(cost), value: factor(cost), unit: "x" as const, note: `${(cost.body.length / 1e6).toFixed(1)} MB, ${cost.status}` }))
      ],
      verdicts: [
        { label: `longest hold of the event loop in ms, worst of ${costs.length} bodies to ${new Set(costs.map(({ endpoint }) => endpoint)).size} calls`, ratio: longest[0]!.holdMillis, target: 50, better: "lower" as const },
        { label: `memory added, times the body, worst of ${weighed.length} bodies of 1 MB and more`, ratio: factor(heaviest[0]!), target: 10, better: "lower" as const }
      ]
    }
  }
}
