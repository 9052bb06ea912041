import { expect, it } from "vitest"
import { operations, placeholdersOf } from "../hostile/Operations.ts"
import { operatorKey, runningService } from "../TestService.ts"

const service = await runningService()
const acme = await service.tenant("acme")
const shop = await acme.customer("shop", ["A1"])
await service.send("POST", "/portal/v1/secrets/main/rotate", { key: shop, body: {} })

const lists = operations.filter(({ endpoint }) => endpoint.query !== undefined && "cursor" in endpoint.query)

/** What no list returns: a word, part of the cursor of another list, other characters, nothing. */
const garbage = ["garbage", "WyJhY21l", "no cursor", "{}", "\u{1f69a}", ""]

const keyFor = (template: string): string => template.startsWith("/operator/") ? operatorKey : template.startsWith("/intake/") ? acme.carrier : shop

it.each(lists.map(({ id, template }) => [id, template] as const))("%s refuses a cursor that it did not return", async (_, template) => {
  expect(placeholdersOf(template).filter((name) => name !== "tenantId")).toEqual([])
  const path = template.replace("{tenantId}", "acme")
  expect((await service.send("GET", path, { key: keyFor(template) })).status).toBe(200)
  for (const cursor of garbage) {
    const answer = await service.send("GET", `${path}?cursor=${encodeURIComponent(cursor)}`, { key: keyFor(template) })
    expect([cursor, answer.status]).toEqual([cursor, 400])
    expect(`${answer.text} ${answer.headers.get("x-waybill-detail")}`).toContain("cursor")
  }
})

it("covers the lists of operators, portals, carriers and areas", () => {
  expect(lists.map(({ id }) => id).sort()).toMatchInlineSnapshot(`
    [
      "intake.listPickupChanges",
      "intake.listPickupSubscriptions",
      "invoices.listDocuments",
      "invoices.listInvoices",
      "operator.listAllSubscriptions",
      "operator.listApiKeys",
      "operator.listAudit",
      "operator.listClients",
      "operator.listDeliveries",
      "operator.listPickups",
      "operator.listSecrets",
      "operator.listTenants",
      "portal.listPortalDeliveries",
      "portal.listPortalSecrets",
      "portal.listPortalSubscriptions",
      "transit-events.listEvents",
    ]
  `)
})
