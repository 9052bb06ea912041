import { assert, it } from "@effect/vitest"
import { AccessStore, type Principal } from "@waybill/core"
import { TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeAdmission } from "../../src/access/Admission.ts"

const shop: Principal = { tenantId: "acme", client: "shop", roles: ["customer"], accounts: ["A1"], origin: "token" }

it.effect("access of a token is saved when it differs, and once a minute, although the clock was set back", () =>
  Effect.gen(function*() {
    const store = yield* AccessStore
    let writes = 0
    const counting = AccessStore.of({ ...store, putClientAccess: (tenantId, access) => Effect.andThen(Effect.sync(() => writes++), store.putClientAccess(tenantId, access)) })
    yield* TestWaybill.tenant()
    const admit = yield* Effect.provideService(makeAdmission, AccessStore, counting)
    yield* TestClock.setTime(3 * 3_600_000)
    for (let n = 0; n < 10; n++) yield* admit(shop, "unknown tenant")
    assert.strictEqual(writes, 1)
    yield* admit({ ...shop, accounts: ["A1", "A2"] }, "unknown tenant")
    assert.strictEqual(writes, 2)
    yield* TestClock.setTime(0)
    yield* TestClock.adjust("1 minute")
    for (let n = 0; n < 10; n++) yield* admit({ ...shop, accounts: ["A1", "A2"] }, "unknown tenant")
    assert.strictEqual(writes, 3)
  }).pipe(Effect.provide(TestWaybill.layer())))
