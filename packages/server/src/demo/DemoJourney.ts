/** Three less-than-truckload shipments from pickup to proof of delivery, an event every two seconds. */
import type { ReportedEvent } from "@waybill/client"

/** Whose freight it is. */
export const demoAccount = "DEMO-SHIPPER"

export const tickMillis = 2_000

/** An event, and when it is to be published. */
export interface Scene {
  readonly at: number
  readonly event: ReportedEvent & { readonly eventId: string }
}

interface Place {
  readonly name: string
  readonly type: "FACILITY"
  readonly city: string
  readonly state: string
  readonly postalCode: string
  readonly country: "USA"
}

const facility = (name: string, city: string, state: string, postalCode: string): Place => ({ name, type: "FACILITY", city, state, postalCode, country: "USA" })

interface Route {
  readonly origin: Place
  readonly originTerminal: Place
  readonly destinationTerminal: Place
  readonly destination: Place
}

const routes: ReadonlyArray<Route> = [
  {
    origin: facility("Lakeshore Tools", "Chicago", "IL", "60608"),
    originTerminal: facility("Chicago terminal", "Cicero", "IL", "60804"),
    destinationTerminal: facility("Dallas terminal", "Irving", "TX", "75061"),
    destination: facility("Trinity Hardware", "Dallas", "TX", "75201")
  },
  {
    origin: facility("Puget Paper", "Seattle", "WA", "98108"),
    originTerminal: facility("Seattle terminal", "Kent", "WA", "98032"),
    destinationTerminal: facility("Denver terminal", "Commerce City", "CO", "80022"),
    destination: facility("Mile High Office Supply", "Denver", "CO", "80205")
  },
  {
    origin: facility("Peachtree Textiles", "Atlanta", "GA", "30318"),
    originTerminal: facility("Atlanta terminal", "Forest Park", "GA", "30297"),
    destinationTerminal: facility("Newark terminal", "Carteret", "NJ", "07008"),
    destination: facility("Harbor Outfitters", "Jersey City", "NJ", "07302")
  }
]

type Step = readonly [type: ReportedEvent["type"], place: keyof Route, status: string]

const steps: ReadonlyArray<Step> = [
  ["PICKUP_SCHEDULED", "origin", "Pickup scheduled"],
  ["PICKED_UP", "origin", "Picked up"],
  ["ARRIVED_AT_TERMINAL", "originTerminal", "At the origin terminal"],
  ["DEPARTED_TERMINAL", "originTerminal", "Left the origin terminal"],
  ["IN_TRANSIT", "originTerminal", "On the road"],
  ["ARRIVED_AT_TERMINAL", "destinationTerminal", "At the destination terminal"],
  ["OUT_FOR_DELIVERY", "destinationTerminal", "Out for delivery"],
  ["DELIVERED", "destination", "Delivered"],
  ["PROOF_OF_DELIVERY", "destination", "Signed for"]
]

/**
 * Every event of the journey that began then. The same beginning always gives the same events under the same ids, so a
 * journey can be taken up again after a restart without anything happening twice.
 */
export const journeyFrom = (startedAt: number): ReadonlyArray<Scene> =>
  steps.flatMap((step, stepIndex) =>
    routes.map((route, routeIndex): Scene => {
      const at = startedAt + (stepIndex * routes.length + routeIndex) * tickMillis
      return { at, event: eventOf(startedAt, at, step, stepIndex, route, routeIndex) }
    }))

const eventOf = (startedAt: number, at: number, [type, place, status]: Step, stepIndex: number, route: Route, routeIndex: number): Scene["event"] => {
  const shipmentId = `DEMO-${stampOf(startedAt)}-${routeIndex + 1}`
  const pro = proNumber(Math.floor(startedAt / 1000) * 10 + routeIndex)
  return {
    eventId: `${shipmentId}-${stepIndex + 1}`,
    type,
    status,
    occurredAt: new Date(at).toISOString(),
    location: route[place],
    shipment: {
      shipmentId,
      mode: "LTL",
      scac: "WAYB",
      references: [{ type: "PRO", value: pro }],
      origin: route.origin,
      destination: route.destination
    },
    ...(type === "PROOF_OF_DELIVERY"
      ? { documents: [{ type: "POD", url: `https://carrier.example/documents/${pro}/pod.pdf`, mimeType: "application/pdf" }] }
      : {}),
    parties: { accounts: [demoAccount] }
  }
}

/** Sorts by time and fits into a line. */
const stampOf = (millis: number): string => new Date(millis).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-")

/** Nine digits, as carriers print them. */
const proNumber = (seed: number): string => String(seed % 1_000_000_000).padStart(9, "0")
