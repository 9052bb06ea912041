import { expect, inject, it } from "vitest"
import { eventually, receiver, sharedSettings, startProgram } from "./Program.ts"
import { event, tenantOn } from "./Tenant.ts"

it("every process exposes unhealthy subscriptions with tenant and id until they recover, to operators only", { timeout: 120_000 }, async () => {
  const { env, operatorKey } = sharedSettings(inject("pgUrl"), { WAYBILL_ADMIN_PORT: "0", WAYBILL_POOL_SIZE: "4" })
  const start = async () => {
    const { program, url } = await startProgram({ env })
    const adminUrl: string = program.log.find(({ message }) => message === "Ready.")!["adminUrl"]
    return { program, url, adminUrl, series: async () => (await (await fetch(`${adminUrl}/metrics`)).text()).split("\n").filter((line) => line.startsWith("waybill_subscription")) }
  }
  const first = await start()
  const tenant = await tenantOn(first.adminUrl, operatorKey)
  const hook = await receiver(({ path }, response) => void response.writeHead(path === "/gone" ? 410 : 500).end())
  const subscribe = (path: string) =>
    tenant.customerAt(first.url).createSubscription({ endpointUrl: `${hook.url}/${path}`, hmacSecretId: "main", delivery: { maxAttempts: 1 } })
  const gone = await subscribe("gone")
  const failing = await subscribe("failing")
  await tenant.intakeAt(first.url).publishTransitEvents([event("S-1", 1)])

  const of = (id: string) => `{tenant="acme",subscription="${id}",area="transit-events"}`
  const expected = [`waybill_subscription_paused${of(gone.id)} 1`, `waybill_subscription_recent_dead_deliveries${of(failing.id)} 1`]
  const present = async (series: ReadonlyArray<string>) => expected.map((line) => series.includes(line))
  await eventually(async () => (await present(await first.series())).every((is) => is) ? true : undefined)
  expect((await fetch(`${first.url}/metrics`)).status).toBe(404)

  // A counter of the process would start at 0 here.
  expect((await first.program.kill("SIGTERM")).code).toBe(0)
  const second = await start()
  expect(await present(await second.series())).toEqual([true, true])
  expect(await second.series()).toContain("waybill_subscriptions_recent_dead_deliveries{area=\"transit-events\"} 1")

  const post = async (path: string, body: object) =>
    (await fetch(`${second.adminUrl}/operator/v1/tenants/acme/${path}`, { method: "POST", headers: { "x-api-key": operatorKey, "content-type": "application/json" }, body: JSON.stringify(body) })).status
  const listed = await fetch(`${second.adminUrl}/operator/v1/tenants/acme/deliveries?state=dead`, { headers: { "x-api-key": operatorKey } })
  const { data: [dead] } = await listed.json() as { readonly data: ReadonlyArray<{ readonly deliveryId: string }> }
  expect(await post(`deliveries/${dead!.deliveryId}/dismiss`, {})).toBe(202)
  // An operator's pause is on purpose.
  expect(await post(`subscriptions/${gone.id}/pause`, { reason: "abandoned" })).toBe(200)
  expect(await present(await second.series())).toEqual([false, false])
  expect((await second.program.kill("SIGTERM")).code).toBe(0)
})
