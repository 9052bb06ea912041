import { describe, expect, it } from "vitest"
import { hashOf, placeOf, type Route, routeOf } from "../../../dashboard/model/routes.ts"

describe("routes", () => {
  it("round-trip through the hash with any content", () => {
    const odd = "a/b?c#d&e=f %2F \u00fc.."
    const routes: ReadonlyArray<Route> = [
      { view: "tenants", cursor: odd },
      { view: "subscriptions", tenantId: odd, state: "paused", cursor: odd },
      { view: "subscription", tenantId: odd, subscriptionId: odd },
      { view: "deliveries", tenantId: odd, client: odd, state: "dead", subscriptionId: odd, since: "2026-11-20T07:15:00.000Z", cursor: odd },
      { view: "delivery", tenantId: odd, deliveryId: odd },
      { view: "shipments", tenantId: odd, reference: odd },
      { view: "journey", tenantId: odd, shipmentId: odd },
      { view: "pickups", tenantId: odd, state: "all", cursor: odd },
      { view: "explain", tenantId: odd, subscriptionId: odd, by: "eventId", value: odd }
    ]
    for (const route of routes) expect(routeOf(hashOf(route))).toEqual(route)
    expect(hashOf({ view: "deliveries", tenantId: "acme", state: "dead" })).toBe("#/t/acme/deliveries?state=dead")
  })

  it("start with the tenants, and a tenant with its subscriptions", () => {
    for (const hash of ["", "#", "#/"]) expect(routeOf(hash)).toMatchObject({ view: "tenants" })
    expect(routeOf("#/t/acme")).toMatchObject({ view: "subscriptions", tenantId: "acme" })
    for (const hash of ["#/x", "#/t", "#/t/acme/x", "#/t/acme/subscriptions/a/b", "#/t/%E0%A4%A", "#/t/..", "#/t/acme/subscriptions/."]) expect(routeOf(hash)).toEqual({ view: "nowhere" })
  })

  it("are the same place when only a filter changes", () => {
    const of = (hash: string) => placeOf(routeOf(hash))
    expect(of("#/t/acme/subscriptions?state=paused")).toBe(of("#/t/acme/subscriptions"))
    expect(of("#/t/acme/deliveries?since=x&state=waiting")).toBe(of("#/t/acme/deliveries"))
    expect(of("#/t/acme/deliveries/x")).not.toBe(of("#/t/acme/deliveries"))
    expect(of("#/t/acme/subscriptions?cursor=x")).not.toBe(of("#/t/acme/subscriptions"))
  })
})
