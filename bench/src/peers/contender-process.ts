/** A process for one contender: its name and options come as arguments. */
import "effect/schema/SchemaJITCompiler/enable"
import { serve } from "../machine/Child.ts"
import { makeWaybill } from "../waybill/WaybillContender.ts"
import type { Contender, ContenderOptions } from "./Contender.ts"
import { makeGraphileWorker } from "./GraphileWorker.ts"
import { makePgBoss } from "./PgBoss.ts"
import { makeRawUndici } from "./RawUndici.ts"

const makers: Readonly<Record<string, (options: ContenderOptions) => Contender | Promise<Contender>>> = {
  waybill: makeWaybill,
  "graphile-worker": makeGraphileWorker,
  "pg-boss": makePgBoss,
  undici: (options) => makeRawUndici(options, false),
  "undici-signed": (options) => makeRawUndici(options, true)
}

const [name, text] = process.argv.slice(2)
const contender = await makers[name!]!(JSON.parse(text!) as ContenderOptions)

const handlers = {
  fill: (count: number) => contender.fill(count),
  fillExtra: (count: number) => contender.fillExtra?.(count),
  extraIsEmpty: () => contender.extraIsEmpty?.(),
  sweep: () => contender.sweep?.(),
  /** When the workers had started, and the peak memory of this process. */
  drain: async (count: number) => {
    let most = 0
    const look = setInterval(() => most = Math.max(most, process.memoryUsage.rss()), 25)
    const startedAt = await contender.drain(count)
    clearInterval(look)
    return { startedAt, mostBytes: most }
  },
  start: () => contender.start(),
  stop: () => contender.stop(),
  publish: (mark: string) => contender.publish(mark),
  /** Publishes `count` events, `perSecond` of them evenly; returns the commit time of each. */
  publishEvenly: async (count: number, perSecond: number, firstMark: number) => {
    const begin = performance.now()
    const committed = await Promise.all(Array.from({ length: count }, async (_, n) => {
      const wait = begin + n * 1000 / perSecond - performance.now()
      await new Promise((done) => setTimeout(done, Math.max(0, wait)))
      return contender.publish(`mark-${String(firstMark + n).padStart(8, "0")}`)
    }))
    return committed
  }
}

export type ContenderHandlers = typeof handlers

serve(handlers, () => contender.close())
