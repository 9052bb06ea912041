import { describe, expect, it } from "vitest"
import { hashOf, placeOf, type Route, routeOf } from "../../../dashboard/portal/routes.ts"

describe("routes of the portal", () => {
  const routes: ReadonlyArray<Route> = [
    { view: "subscriptions", cursor: undefined },
    { view: "subscriptions", cursor: "a/b" },
    { view: "subscription", subscriptionId: "s/1?x#y" },
    { view: "deliveries", state: "dead", subscriptionId: "s 1", cursor: "c" },
    { view: "delivery", deliveryId: "d%1" },
    { view: "secrets", cursor: undefined },
    { view: "notices" }
  ]

  it.each(routes)("are the same after they were written and read: %o", (route) => expect(routeOf(hashOf(route))).toEqual(route))

  it("show the subscriptions first, and a message for an unknown address", () => {
    for (const hash of ["", "#", "#/"]) expect(routeOf(hash)).toEqual({ view: "subscriptions", cursor: undefined })
    for (const hash of ["#/nowhere", "#/deliveries/a/b", "#/secrets/a", "#/%", "#token=a.b"]) expect(routeOf(hash)).toEqual({ view: "nowhere" })
  })

  it("stay at the same place while a filter changes", () => {
    expect(placeOf(routeOf("#/deliveries?state=dead"))).toBe(placeOf(routeOf("#/deliveries")))
  })
})
