/** Wake-ups between processes by LISTEN and NOTIFY; inside this process at once. */
import { HostTransaction } from "@waybill/core"
import { Wakeups } from "@waybill/core/delivery"
import { Effect, Latch, Layer, Stream } from "effect"
import { createHash, randomUUID } from "node:crypto"
import { PgClient } from "../client/PgClient.ts"
import { textArray } from "../client/SqlRow.ts"
import { statement } from "../client/SqlStatement.ts"
import { WaybillSchema } from "../shared/Schema.ts"

/**
 * NOTIFY takes a lock over the whole database at commit, so it is never sent within a publisher's transaction: one fiber
 * sends what came together, at once when it was idle and at most every so often when it is not.
 */
const coalesceMillis = 20

/** Pauses in milliseconds before each wake-up after a publication inside a host's transaction. */
const wakePauses = [5, 20, 75, 300]

/** The channel of a schema; `schema` is unquoted. A payload is `<sender>:<tenant>`. */
export const wakeChannel = (schema: string): string => `waybill_${createHash("sha256").update(schema).digest("hex").slice(0, 16)}`

export const layer = (options: { readonly listen: boolean }) =>
  Layer.effect(
    Wakeups,
    Effect.gen(function*() {
      const sql = yield* PgClient
      const { name } = yield* WaybillSchema
      const channel = wakeChannel(name)
      const self = randomUUID().slice(0, 8)
      let woken = new Set<string>()
      const hasWoken = Latch.makeUnsafe(false)
      let toNotify = new Set<string>()
      const hasToNotify = Latch.makeUnsafe(false)
      const workers = new Set<(tenantId: string) => Effect.Effect<boolean>>()

      const wakeHere = (tenantId: string) => {
        woken.add(tenantId)
        hasWoken.openUnsafe()
      }

      /** Whether other processes have workers that could serve the tenant. */
      const concernsOthers = (tenantId: string) =>
        Effect.map(Effect.filter(workers, (servesAlone) => servesAlone(tenantId)), (alone) => alone.length === 0)

      const notify = Effect.gen(function*() {
        yield* hasToNotify.await
        hasToNotify.closeUnsafe()
        const waiting = toNotify
        toNotify = new Set()
        const tenants = yield* Effect.filter(waiting, concernsOthers)
        if (tenants.length === 0) return
        yield* Effect.ignore(sql.run(statement`SELECT pg_notify(${channel}, ${self} || ':' || tenant) AS sent FROM unnest(${textArray(tenants)}) AS tenant`))
        yield* Effect.sleep(coalesceMillis)
      })
      yield* Effect.forkScoped(Effect.forever(notify))

      if (options.listen) {
        const listen = Stream.runForEach(sql.listen(channel), (payload) =>
          Effect.sync(() => {
            // an empty payload means that the connection was opened again; polling replaces hints that were lost before
            if (payload === "") return
            const [from, tenantId] = payload.split(":")
            if (from !== self && tenantId !== undefined) wakeHere(tenantId)
          }))
        yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.ignore(listen), Effect.sleep(1000))))
      }

      const wake = (tenantId: string) =>
        Effect.sync(() => {
          wakeHere(tenantId)
          toNotify.add(tenantId)
          hasToNotify.openUnsafe()
        })
      const scope = yield* Effect.scope

      return Wakeups.of({
        // a host's commit is not observable: wake a few times, then leave it to polling. Other transactions wake when they commit.
        wake: (tenantId) =>
          Effect.flatMap(HostTransaction, (host) =>
            host !== undefined
              ? Effect.asVoid(Effect.forkIn(
                Effect.forEach(wakePauses, (millis) => Effect.andThen(Effect.sleep(millis), wake(tenantId)), { discard: true }),
                scope
              ))
              : sql.afterCommit(wake(tenantId))),
        serve: (servesAlone) =>
          Effect.asVoid(Effect.acquireRelease(Effect.sync(() => workers.add(servesAlone)), () => Effect.sync(() => workers.delete(servesAlone)))),
        next: Effect.map(hasWoken.await, () => {
          hasWoken.closeUnsafe()
          const tenants = woken
          woken = new Set()
          return tenants
        })
      })
    })
  )
