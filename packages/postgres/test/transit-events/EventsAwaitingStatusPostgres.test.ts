/** Which shipments with events from SQL get their status, step by step: every one, however many there are. */
import { layer } from "@effect/vitest"
import { fixtures } from "@waybill/conformance/suites"
import { AccessStore, EventsAwaitingStatus, Transaction } from "@waybill/core"
import { Effect } from "effect"
import { assert } from "vitest"
import { rowsIn } from "../TestService.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const schema = freshSchema()
const rows = rowsIn(schema)

/** A tenant that exists, with an event of each shipment; those of some wait for their status. */
const tenantWith = Effect.fnUntraced(function*(shipmentIds: ReadonlyArray<string>, waiting: ReadonlyArray<string>) {
  const tenantId = fixtures.freshTenant()
  yield* (yield* AccessStore).putTenant({ tenantId, name: "Acme", hosts: [] })
  yield* fixtures.publish(tenantId, shipmentIds.map((shipmentId) => ({ shipmentId })))
  yield* rows(
    `INSERT INTO @transit_events_awaiting_status (tenant_id, shipment_id, event_no)
     SELECT tenant_id, shipment_id, event_no FROM @transit_events WHERE tenant_id = $1 AND shipment_id = ANY ($2::text[])`,
    [tenantId, waiting]
  )
  return tenantId
})

layer(testStorage(schema), { excludeTestServices: true })("events that wait for the status of their shipment", (it) => {
  it.effect("are found by tenant, page by page, and not those of deleted tenants", Effect.fnUntraced(function*() {
    const awaiting = (yield* EventsAwaitingStatus)!
    const waiting = [yield* tenantWith(["S"], ["S"]), yield* tenantWith(["S"], ["S"]), yield* tenantWith(["S"], ["S"])].toSorted()
    yield* tenantWith(["S"], [])
    yield* (yield* AccessStore).deleteTenant(yield* tenantWith(["S"], ["S"]))
    const found = yield* fixtures.allPages(2, (after: string | undefined) => awaiting.tenants({ after, limit: 2 }))
    assert.deepStrictEqual(found, waiting)
  }))

  it.effect("are found by shipment, step by step, and other shipments are not locked", Effect.fnUntraced(function*() {
    const awaiting = (yield* EventsAwaitingStatus)!
    const tenantId = yield* tenantWith(["C", "A", "B", "A", "other"], ["A", "B", "C"])
    const step = (after: string | undefined) => Effect.flatMap(Transaction, (transaction) => transaction.run(awaiting.lockShipments(tenantId, { after, limit: 2 })))
    const [first, second, third] = [yield* step(undefined), yield* step("B"), yield* step("C")]
    assert.deepStrictEqual([first, second, third].map(({ last, shipmentIds }) => [shipmentIds.toSorted(), last]), [[["A", "B"], "B"], [["C"], undefined], [[], undefined]])
  }))
})
