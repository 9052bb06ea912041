/** The areas over HTTP, in the order of their letters. */
import { freightChargesArea } from "./freight-charges/FreightChargesArea.ts"
import { invoicesArea } from "./invoices/InvoicesArea.ts"
import { pickupsArea } from "./pickups/PickupsArea.ts"
import type { PlacedContract } from "./shared/Contract.ts"
import { shipmentStatusArea } from "./shipment-status/ShipmentStatusArea.ts"
import { transitEventsArea } from "./transit-events/TransitEventsArea.ts"

export const httpAreas = [shipmentStatusArea, invoicesArea, pickupsArea, transitEventsArea, freightChargesArea] as const

/** Name of an area in options such as `basePaths`. */
export type AreaKey = typeof httpAreas[number]["key"]

/** Summary of an area, for settings and pages. */
export interface AreaOverview {
  /** Its name in options. */
  readonly key: AreaKey
  /** Its name in paths of OpenAPI documents, and of its folders. */
  readonly area: string
  readonly name: string
  readonly summary: string
  /** Its base path by default. */
  readonly base: string
}

/** The five areas with their default base paths, in the order of the documentation. */
export const areaOverviews: ReadonlyArray<AreaOverview> = httpAreas.map(({ base, contract: { area }, key, name, summary }) => ({ key, area, name, summary, base }))

/** The contracts of the areas, at their base paths by default. */
export const areaContracts: ReadonlyArray<PlacedContract> = httpAreas.map(({ base, contract }) => ({ base, contract }))
