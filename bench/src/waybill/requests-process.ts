/** A complete server process that measures how long its event loop was blocked and how much its memory grew. */
import { ApiKeys } from "@waybill/core"
import { AuthenticatorStandard } from "@waybill/http"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { getHeapSpaceStatistics } from "node:v8"
import { serve } from "../machine/Child.ts"
import { listenHttp } from "./listenHttp.ts"
import { accountOf, createTenant, tenantId } from "./Tenant.ts"
import { waybillLayer } from "./Waybill.ts"

const [database] = process.argv.slice(2) as [string]

const operatorKey = "operator-key-of-the-bench"

const runtime = ManagedRuntime.make(Layer.provideMerge(
  AuthenticatorStandard.layer({ operatorKeys: [{ name: "operator", readOnly: false, key: Redacted.make(operatorKey) }] }),
  waybillLayer({ database, connections: 10 })
))
let close = () => {}

/** Processor time of the thread. On a busy machine elapsed time includes waiting for a processor. */
const cpuMillis = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1000
}

/** Buffers, and the heap without the young generation, whose size does not depend on the calls. */
const keptBytes = (): number =>
  getHeapSpaceStatistics().reduce((sum, space) => sum + (space.space_name.startsWith("new_") ? 0 : space.space_used_size), process.memoryUsage().external)

/** When memory is measured, the heap is collected each time it has grown by this much; `undefined` when time is measured. */
let collectionStepBytes: number | undefined
let before = 0
let most = 0
let longest = 0
let lastWall = performance.now()
let lastCpu = cpuMillis()

const sample = (): void => {
  const [wall, cpu] = [performance.now(), cpuMillis()]
  longest = Math.max(longest, Math.min(wall - lastWall, cpu - lastCpu))
  if (collectionStepBytes !== undefined) {
    // garbage does not count as kept
    if (keptBytes() > most + collectionStepBytes) globalThis.gc?.()
    most = Math.max(most, keptBytes())
  }
  // this measurement does not count
  lastWall = performance.now()
  lastCpu = cpuMillis()
}

const handlers = {
  /** Starts the server; returns its port and a key for each role. */
  listen: async (accounts: number) => {
    const context = await runtime.context()
    const run = Effect.runPromiseWith(context)
    await run(createTenant)
    const create = (name: string, roles: ReadonlyArray<"carrier" | "customer">, count: number) =>
      run(Effect.map(
        Effect.flatMap(ApiKeys, (keys) => keys.create(tenantId, { name, roles, accounts: Array.from({ length: count }, (_, n) => accountOf(n)) })),
        ({ key }) => Redacted.value(key)
      ))
    const keys = { carrier: await create("carrier", ["carrier"], 0), customer: await create("customer", ["customer"], accounts), operator: operatorKey }
    const server = await run(listenHttp)
    close = server.close
    setInterval(sample, 1).unref()
    return { port: server.port, keys }
  },

  /** Starts a measurement: of memory if `step` is given, otherwise of time, because measuring memory takes time. */
  begin: (step: number | undefined) => {
    collectionStepBytes = step
    // the second collection waits until the buffers of the first are freed
    if (step !== undefined) globalThis.gc?.()
    globalThis.gc?.()
    before = most = keptBytes()
    // the time of the collection does not count
    sample()
    longest = 0
  },

  /** The longest block of the event loop, and the growth of `keptBytes`, since `begin`. */
  end: () => {
    sample()
    collectionStepBytes = undefined
    return { blockedMillis: longest, addedBytes: most - before }
  }
}

export type RequestsHandlers = typeof handlers

serve(handlers, async () => {
  close()
  await runtime.dispose()
})
