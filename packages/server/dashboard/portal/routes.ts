/** Routes of the portal's page, in the hash of the address. */
import { decoded, searchOf } from "../model/routes.ts"

export type Route =
  | { readonly view: "subscriptions"; readonly cursor?: string | undefined }
  | { readonly view: "subscription"; readonly subscriptionId: string }
  | { readonly view: "deliveries"; readonly state?: string | undefined; readonly subscriptionId?: string | undefined; readonly cursor?: string | undefined }
  | { readonly view: "delivery"; readonly deliveryId: string }
  | { readonly view: "secrets"; readonly cursor?: string | undefined }
  | { readonly view: "notices" }
  | { readonly view: "nowhere" }

/** Parses `location.hash`. Never throws; an unknown hash has its own route. */
export const routeOf = (hash: string): Route => {
  const [path = "", search = ""] = hash.replace(/^#/, "").split(/\?(.*)/s)
  const given = new URLSearchParams(search)
  const query = (name: string) => given.get(name) || undefined
  const parts = path.split("/").filter((part) => part !== "").map(decoded)
  if (parts.includes(undefined) || parts.length > 2) return { view: "nowhere" }
  const [view = "subscriptions", id] = parts as ReadonlyArray<string>
  switch (view) {
    case "subscriptions":
      return id === undefined ? { view, cursor: query("cursor") } : { view: "subscription", subscriptionId: id }
    case "deliveries":
      return id === undefined ? { view, state: query("state"), subscriptionId: query("subscriptionId"), cursor: query("cursor") } : { view: "delivery", deliveryId: id }
    case "secrets":
      return id === undefined ? { view, cursor: query("cursor") } : { view: "nowhere" }
    case "notices":
      return id === undefined ? { view } : { view: "nowhere" }
    default:
      return { view: "nowhere" }
  }
}

/** The hash of a view, with its `#`. */
export const hashOf = (route: Route): string => {
  switch (route.view) {
    case "subscriptions":
    case "secrets":
      return `#/${route.view}${searchOf({ cursor: route.cursor })}`
    case "subscription":
      return `#/subscriptions/${encodeURIComponent(route.subscriptionId)}`
    case "deliveries":
      return `#/deliveries${searchOf({ state: route.state, subscriptionId: route.subscriptionId, cursor: route.cursor })}`
    case "delivery":
      return `#/deliveries/${encodeURIComponent(route.deliveryId)}`
    case "notices":
      return "#/notices"
    case "nowhere":
      return "#/"
  }
}

/** The same value for views that differ only in a filter. */
export const placeOf = (route: Route): string => hashOf(route.view === "deliveries" ? { view: "deliveries", cursor: route.cursor } : route)
