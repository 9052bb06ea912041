/** The comparison of tenants names those that cannot be read, and shows the others. */
import { assert, describe, it } from "@effect/vitest"
import { StorageError, TenantHealths } from "@waybill/core"
import { DeliveryControl } from "@waybill/core/delivery"
import { TestWaybill } from "@waybill/testkit"
import { Effect, Layer, Logger } from "effect"
import { inService } from "../inService.ts"

const failure = new StorageError({ operation: "DeliveryControl.health", cause: "broken" })

/** Health of three tenants, of which these cannot be read. */
const healthWithout = Effect.fnUntraced(function*(broken: ReadonlyArray<string>) {
  for (const tenantId of ["a", "b", "c"]) yield* TestWaybill.tenant(tenantId)
  const lines: Array<string> = []
  const store = Layer.effect(DeliveryControl, Effect.map(DeliveryControl, (own) => DeliveryControl.of({
    ...own,
    health: (tenantId) => broken.includes(tenantId) ? Effect.fail(failure) : own.health(tenantId)
  })))
  const log = Logger.layer([Logger.map(Logger.formatStructured, ({ annotations, level, message }) => void lines.push(`${level} ${String([message].flat()[0])} ${String(annotations["tenant"])}`))])
  const exit = yield* Effect.flatMap(TenantHealths, ({ all }) => Effect.result(all)).pipe(Effect.provide(Layer.fresh(TenantHealths.layer).pipe(Layer.provide(store))), Effect.provide(log))
  return { exit, lines }
})

describe("the health of tenants", () => {
  it.effect("shows the others when one cannot be read, names it, and logs why", Effect.fnUntraced(function*() {
    const { exit, lines } = yield* healthWithout(["b"])
    assert(exit._tag === "Success")
    assert.deepStrictEqual([exit.success.tenants.map(({ tenantId }) => tenantId), exit.success.unread], [["a", "c"], ["b"]])
    assert.deepStrictEqual(lines, ["WARN Health of a tenant not read. b"])
  }, inService))

  it.effect("fails when no tenant can be read", Effect.fnUntraced(function*() {
    const { exit } = yield* healthWithout(["a", "b", "c"])
    assert(exit._tag === "Failure")
    assert.strictEqual(exit.failure, failure)
  }, inService))
})
