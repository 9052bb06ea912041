/** A whole server process that says how long its event loop was held and how much its memory grew meanwhile. */
import { NodeHttpServer } from "@effect/platform-node"
import { ApiKeys } from "@waybill/core"
import { AuthenticatorStandard, Readiness, WaybillHttp } from "@waybill/http"
import { Effect, Layer, ManagedRuntime, Redacted, Scope } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { getHeapSpaceStatistics } from "node:v8"
import { serve } from "../machine/Child.ts"
import { accountOf, createTenant, tenantId } from "./Tenant.ts"
import { waybillLayer } from "./Waybill.ts"

const [database] = process.argv.slice(2) as [string]

const operatorKey = "operator-key-of-the-bench"

const runtime = ManagedRuntime.make(Layer.provideMerge(
  Layer.mergeAll(AuthenticatorStandard.layer({ operatorKeys: [{ name: "operator", readOnly: false, key: Redacted.make(operatorKey) }] }), Readiness.layerStorage),
  waybillLayer({ database, connections: 10 })
))
/** As long as the process lives. */
const scope = Scope.makeUnsafe("parallel")
const server = createServer({ keepAliveTimeout: 60_000 })

/** Beside others on the machine a process waits for its turn; what counts is what this thread did between two turns of its loop. */
const cpuMillis = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1000
}

/** Objects outside the young generation, which has a fixed size however many calls there are, and buffers. */
const keptBytes = (): number =>
  getHeapSpaceStatistics().reduce((sum, space) => sum + (space.space_name.startsWith("new_") ? 0 : space.space_used_size), process.memoryUsage().external)

/** Growth after which the heap is collected where memory is weighed; `undefined` where the time is taken. */
let noticeableBytes: number | undefined
let before = 0
let most = 0
let longest = 0
let lastWall = performance.now()
let lastCpu = cpuMillis()

const look = (): void => {
  const [wall, cpu] = [performance.now(), cpuMillis()]
  longest = Math.max(longest, Math.min(wall - lastWall, cpu - lastCpu))
  if (noticeableBytes !== undefined) {
    // what nothing refers to any more is collected late where there is much memory; it is not what a call keeps
    if (keptBytes() > most + noticeableBytes) globalThis.gc?.()
    most = Math.max(most, keptBytes())
  }
  // looking is no work of the call
  lastWall = performance.now()
  lastCpu = cpuMillis()
}

const handlers = {
  /** The port and everybody's key. */
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
    const handler = await run(Effect.gen(function*() {
      const app = yield* WaybillHttp.make({})
      return yield* NodeHttpServer.makeHandler(app, { scope })
    }))
    server.on("request", handler)
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    setInterval(look, 1).unref()
    return { port: (server.address() as AddressInfo).port, keys }
  },

  /** Everything from now on counts: memory in steps of so many bytes, or else the time, because weighing takes some. */
  begin: (step: number | undefined) => {
    noticeableBytes = step
    // the second one waits until the buffers of the first are given back
    if (step !== undefined) globalThis.gc?.()
    globalThis.gc?.()
    before = most = keptBytes()
    // the collection is ours
    look()
    longest = 0
  },

  /** The longest time that nothing else could run, and what the memory outside the young generation grew by, since `begin`. */
  end: () => {
    look()
    noticeableBytes = undefined
    return { holdMillis: longest, addedBytes: most - before }
  }
}

export type RequestsHandlers = typeof handlers

serve(handlers, async () => {
  server.closeAllConnections()
  await runtime.dispose()
})
