/** The areas of the service. Registries of all areas are made from this list. */
import { Schema } from "effect"
import { freightChargesArea } from "./freight-charges/FreightChargesArea.ts"
import { invoicesArea } from "./invoices/InvoicesArea.ts"
import { pickupsArea } from "./pickups/PickupsArea.ts"
import type { AreaSubscriptions } from "./shared/Area.ts"
import { shipmentStatusArea } from "./shipment-status/ShipmentStatusArea.ts"
import { transitEventsArea } from "./transit-events/TransitEventsArea.ts"

/** The five areas of the interfaces, A to E in order. */
export const areas = [shipmentStatusArea, invoicesArea, pickupsArea, transitEventsArea, freightChargesArea] as const

type Areas = typeof areas[number]

/** `shipment-status`, `invoices`, `pickups`, `transit-events` or `freight-charges`: the name in addresses, folders and the operator API. */
export type AreaName = Areas["name"]

/** The storage ports of all areas. */
export type AreaStores = Areas["stores"][number]["prototype"]

/** Areas with subscriptions. */
export type DeliveringArea = Extract<Areas, { readonly subscriptions: AreaSubscriptions }>["name"]

const delivering = areas.filter((area) => "subscriptions" in area)

/** By the name of an area with subscriptions. */
export const subscriptionsOfArea = Object.fromEntries(delivering.map(({ name, subscriptions }) => [name, subscriptions])) as Readonly<Record<DeliveringArea, typeof delivering[number]["subscriptions"]>>

const areaNames = new Map<string, DeliveringArea>(delivering.flatMap(({ name, subscriptions: { sources } }) => sources.map((source) => [source, name] as const)))

/** The area of a destination's source. A source that no area has is returned unchanged. */
export const areaOfSource = (source: string): string => areaNames.get(source) ?? source

/** What `areaOfSource` returns. */
export const SubscriptionArea = Schema.String.annotate({ description: `One of ${Object.keys(subscriptionsOfArea).join(", ")}, notices.` })
