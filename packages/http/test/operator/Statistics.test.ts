import { StatisticsStore } from "@waybill/core/delivery"
import { TestWaybill } from "@waybill/testkit"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { operatorKey, readOnlyKey, runningService } from "../TestService.ts"

const minute = Math.floor(Date.now() / 60_000) * 60_000 - 600_000
const id = "0199a6c2-5f1e-7b7a-9d53-0b8a4c6e2f10"

/** Counts that a worker wrote. */
const counted = Layer.effectDiscard(Effect.orDie(Effect.flatMap(StatisticsStore, (store) =>
  Effect.forEach(["acme", "beta"], (tenantId, n) => store.add(tenantId, [{ destinationId: id, at: minute, deliveries: 3 + n, failures: 1, latencyMillis: 100, maxLatencyMillis: 70 }])))))

const service = await runningService({ waybill: Layer.provideMerge(counted, TestWaybill.layer()) })
await service.tenant("acme")
await service.tenant("beta")

const get = (query: string, tenantId = "acme", key = operatorKey) => service.send("GET", `/operator/v1/tenants/${tenantId}/statistics${query}`, { key })

describe("delivery statistics for operators", () => {
  it("are the tenant's own points, one for each step, also for a read-only key", async () => {
    const range = `?subscriptionId=${id}&from=${new Date(minute).toISOString()}&to=${new Date(minute + 120_000).toISOString()}&step=60`
    const point = { deliveries: 0, failures: 0, meanMillis: null, maxMillis: null, waiting: null }
    for (const [tenantId, deliveries, meanMillis] of [["acme", 3, 25], ["beta", 4, 20]] as const) {
      const shown = await get(range, tenantId, readOnlyKey)
      expect([shown.status, shown.json]).toEqual([200, {
        from: new Date(minute).toISOString(),
        to: new Date(minute + 120_000).toISOString(),
        step: 60,
        series: [{
          subscriptionId: id,
          points: [
            { ...point, at: new Date(minute).toISOString(), deliveries, failures: 1, meanMillis, maxMillis: 70 },
            { ...point, at: new Date(minute + 60_000).toISOString() }
          ]
        }]
      }])
    }
    expect((await get("?step=300")).json.series).toMatchObject([{ subscriptionId: null, points: expect.any(Array) }])
  })

  it("refuse what cannot be shown, and name the parameter", async () => {
    for (const [query, parameter] of [["?step=61", "step"], ["?from=2020-01-01T00:00:00Z&step=60", "step"], ["?to=now", "to"], ["?client=a&subscriptionId=b", "client"]] as const) {
      const refused = await get(query)
      expect([refused.status, refused.json.errors[0].parameter]).toEqual([400, parameter])
    }
  })
})
