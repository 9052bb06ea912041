/** Wakes waiting calls of every process, by LISTEN and NOTIFY. */
import { PickupSignals, WaitingCalls } from "@waybill/core/pickups"
import { Effect, Latch, Layer, Stream } from "effect"
import { createHash } from "node:crypto"
import { statement } from "../client/SqlStatement.ts"
import { database } from "../shared/Database.ts"

/** The channel of a schema; `schema` is unquoted. A payload is `<pickupId> <tenant>`. */
const pickupChannel = (schema: string): string => `waybill_pickups_${createHash("sha256").update(schema).digest("hex").slice(0, 16)}`

export const layer = Layer.effect(
  PickupSignals,
  Effect.gen(function*() {
    const { name, sql } = yield* database
    const channel = pickupChannel(name)
    const calls = new WaitingCalls()
    const keyOf = (tenantId: string, pickupId: string) => `${pickupId} ${tenantId}`

    // only processes with waiting calls use a connection to listen
    const first = Latch.makeUnsafe(false)
    const listening = Stream.runForEach(sql.listen(channel), (payload) =>
      // an empty payload: the connection was opened again, and signals may have been lost
      Effect.sync(() => payload === "" ? calls.wakeAll() : calls.wake(payload)))
    yield* Effect.forkScoped(Effect.andThen(first.await, Effect.forever(Effect.andThen(Effect.ignore(listening), Effect.sleep(1000)))))

    return PickupSignals.of({
      // sent by the deciding transaction, a host's included, so it arrives when that commits. Decisions are few: its lock at commit is short
      decided: (tenantId, pickupId) => Effect.ignore(sql.run(statement`SELECT pg_notify(${channel}, ${keyOf(tenantId, pickupId)}) AS sent`)),
      listen: (tenantId, pickupId) => Effect.andThen(Effect.sync(() => void first.openUnsafe()), calls.listen(keyOf(tenantId, pickupId)))
    })
  })
)
