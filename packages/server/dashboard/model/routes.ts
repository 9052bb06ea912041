/** Routes in the hash of the address. Every view has one, so that it can be linked and Back works. */

export type Route =
  | { readonly view: "tenants"; readonly cursor?: string | undefined }
  | ({ readonly view: "subscriptions"; readonly tenantId: string } & SubscriptionsFilter)
  | { readonly view: "subscription"; readonly tenantId: string; readonly subscriptionId: string }
  | ({ readonly view: "deliveries"; readonly tenantId: string } & DeliveriesFilter)
  | { readonly view: "delivery"; readonly tenantId: string; readonly deliveryId: string }
  | { readonly view: "shipments"; readonly tenantId: string; readonly reference?: string | undefined }
  | { readonly view: "journey"; readonly tenantId: string; readonly shipmentId: string }
  | { readonly view: "pickups"; readonly tenantId: string; readonly state?: string | undefined; readonly cursor?: string | undefined }
  | ({ readonly view: "explain"; readonly tenantId: string } & ExplainQuestion)
  | { readonly view: "nowhere" }

export interface SubscriptionsFilter {
  readonly client?: string | undefined
  readonly endpoint?: string | undefined
  readonly error?: string | undefined
  /** Of a subscription, or `inTrouble`. */
  readonly state?: string | undefined
  readonly cursor?: string | undefined
}

export const inTrouble = "in-trouble"

export interface DeliveriesFilter {
  readonly client?: string | undefined
  readonly endpoint?: string | undefined
  readonly error?: string | undefined
  readonly state?: string | undefined
  readonly subscriptionId?: string | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly cursor?: string | undefined
}

export interface ExplainQuestion {
  readonly subscriptionId?: string | undefined
  /** What `value` is, such as `eventId`. */
  readonly by?: string | undefined
  readonly value?: string | undefined
}

/** Parses `location.hash`. Never throws; an unknown hash has its own route. */
export const routeOf = (hash: string): Route => {
  const [path = "", search = ""] = hash.replace(/^#/, "").split(/\?(.*)/s)
  const given = new URLSearchParams(search)
  const query = (name: string) => given.get(name) || undefined
  const parts = path.split("/").filter((part) => part !== "").map(decoded)
  if (parts.includes(undefined)) return { view: "nowhere" }
  const [t, tenantId, view, id, ...rest] = parts as ReadonlyArray<string>
  if (t === undefined) return { view: "tenants", cursor: query("cursor") }
  if (t !== "t" || tenantId === undefined || rest.length > 0) return { view: "nowhere" }
  const found = { client: query("client"), endpoint: query("endpoint"), error: query("error"), state: query("state") }
  switch (view) {
    case undefined:
      return { view: "subscriptions", tenantId }
    case "subscriptions":
      return id === undefined ? { view: "subscriptions", tenantId, ...found, cursor: query("cursor") } : { view: "subscription", tenantId, subscriptionId: id }
    case "deliveries":
      return id === undefined
        ? { view: "deliveries", tenantId, ...found, subscriptionId: query("subscriptionId"), since: query("since"), until: query("until"), cursor: query("cursor") }
        : { view: "delivery", tenantId, deliveryId: id }
    case "shipments":
      return id === undefined ? { view: "shipments", tenantId, reference: query("reference") } : { view: "journey", tenantId, shipmentId: id }
    case "pickups":
      return id === undefined ? { view: "pickups", tenantId, state: query("state"), cursor: query("cursor") } : { view: "nowhere" }
    case "explain":
      return id === undefined ? { view: "explain", tenantId, subscriptionId: query("subscriptionId"), by: query("by"), value: query("value") } : { view: "nowhere" }
    default:
      return { view: "nowhere" }
  }
}

/** The hash of a view, with its `#`. */
export const hashOf = (route: Route): string => {
  switch (route.view) {
    case "tenants":
      return `#/${searchOf({ cursor: route.cursor })}`
    case "subscriptions": {
      const { client, cursor, endpoint, error, state } = route
      return `${inTenant(route.tenantId, "subscriptions")}${searchOf({ client, endpoint, error, state, cursor })}`
    }
    case "subscription":
      return inTenant(route.tenantId, "subscriptions", route.subscriptionId)
    case "deliveries": {
      const { client, cursor, endpoint, error, since, state, subscriptionId, until } = route
      return `${inTenant(route.tenantId, "deliveries")}${searchOf({ client, endpoint, error, state, subscriptionId, since, until, cursor })}`
    }
    case "delivery":
      return inTenant(route.tenantId, "deliveries", route.deliveryId)
    case "shipments":
      return `${inTenant(route.tenantId, "shipments")}${searchOf({ reference: route.reference })}`
    case "journey":
      return inTenant(route.tenantId, "shipments", route.shipmentId)
    case "pickups":
      return `${inTenant(route.tenantId, "pickups")}${searchOf({ state: route.state, cursor: route.cursor })}`
    case "explain":
      return `${inTenant(route.tenantId, "explain")}${searchOf({ subscriptionId: route.subscriptionId, by: route.by, value: route.value })}`
    case "nowhere":
      return "#/"
  }
}

/** The same value for views that differ only in a filter. */
export const placeOf = (route: Route): string => {
  switch (route.view) {
    case "subscriptions":
      return hashOf({ view: "subscriptions", tenantId: route.tenantId, cursor: route.cursor })
    case "deliveries":
      return hashOf({ view: "deliveries", tenantId: route.tenantId, cursor: route.cursor })
    case "shipments":
      return hashOf({ view: "shipments", tenantId: route.tenantId })
    case "pickups":
      return hashOf({ view: "pickups", tenantId: route.tenantId, cursor: route.cursor })
    case "explain":
      return hashOf({ view: "explain", tenantId: route.tenantId })
    default:
      return hashOf(route)
  }
}

/** Changes when the view has another heading. */
export const headingOf = (route: Route): string => `${placeOf(route)} ${route.view === "deliveries" && route.state === "dead"}`

export const decoded = (part: string): string | undefined => {
  try {
    const text = decodeURIComponent(part)
    // no id: a path with it leads elsewhere
    return text === "." || text === ".." ? undefined : text
  } catch {
    return undefined
  }
}

const inTenant = (tenantId: string, ...path: ReadonlyArray<string>): string => ["#", "t", tenantId, ...path].map((part, n) => n === 0 ? part : encodeURIComponent(part)).join("/")

export const searchOf = (query: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== "")
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`
}
