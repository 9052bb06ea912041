/** 204, 211 and 216 as orders of a pickup. */
import type { PickupInput } from "@waybill/core/pickups"
import type { Mapping } from "../mapping/Mapping.ts"
import { own } from "../mapping/Members.ts"
import { missingReference } from "../mapping/References.ts"
import { finish, type KeptElement, maxKept, type ReadOne, type ReadRecord, readSetInSteps, type Steps } from "../mapping/ReadSet.ts"
import type { PartnerProfile } from "../partners/PartnerProfile.ts"
import { type EdiFault, elementFaults, segmentFaults, setFaults } from "../x12/EdiFault.ts"
import { keyOfSet, type TransactionSet } from "../x12/Interchange.ts"
import { mapping204 } from "./Mapping204.ts"
import { mapping211 } from "./Mapping211.ts"
import { mapping216 } from "./Mapping216.ts"

/** An order, for `pickups.create`. */
export interface EdiPickupOrder {
  /** Made of the control numbers: use it as the idempotency key, so that a repeated file orders no second truck. */
  readonly key: string
  /** ISA-09, `YYMMDD`, which is part of the key. Refuse an order that is older than your keys, which a repeated file may be. */
  readonly interchangeDate: string
  /** Only a 204 asks for an answer, which is a 990. */
  readonly set: OrderSet
  readonly scac: string
  /** The shipper's number, which the answer names. A 216 may have none. */
  readonly shipmentNumber?: string
  readonly request: PickupInput
}

/** A set that orders a pickup. */
export type OrderSet = "204" | "211" | "216"

interface Size {
  readonly weight?: number
  readonly unit?: string
  readonly units?: number
  readonly cubicFeet?: number
}

interface Times {
  readonly readyDate?: string
  readonly readyTime?: string
  readonly closeTime?: string
  readonly deliverFrom?: string
  readonly deliverBy?: string
  readonly deliverOn?: string
}

type Texts = ReadonlyArray<Readonly<Record<string, string>>>
type Item = Readonly<Record<string, unknown>>

/** A line of freight; `unit` and `cubicFeet` are of the whole order in Waybill's data. */
interface Freight extends Item {
  readonly weight?: number
  readonly unit?: string
  readonly handlingUnitCount?: number
  readonly cubicFeet?: number
}

interface Line extends Freight {
  readonly references?: ReadonlyArray<Item>
  readonly descriptions?: Texts
  readonly freight?: ReadonlyArray<Freight>
  readonly orders?: ReadonlyArray<Order>
}

interface Order {
  readonly purchaseOrder?: string
  readonly lines?: ReadonlyArray<Line>
}

interface Stop extends Size, Times {
  readonly references?: ReadonlyArray<Item>
  readonly services?: ReadonlyArray<Item>
  readonly remarks?: Texts
  readonly lines?: ReadonlyArray<Line>
  readonly orders?: ReadonlyArray<Order>
}

type Address = Item & { readonly stop?: Stop }

/** The members that the mappings of the three sets read. */
interface Tender {
  readonly scac: string
  readonly shipmentNumber?: string
  readonly proNumber?: string
  readonly referenceNumbers?: ReadonlyArray<Item>
  readonly shipmentServices?: ReadonlyArray<Item>
  readonly remarks?: Texts
  readonly orders?: ReadonlyArray<Order>
  readonly lines?: ReadonlyArray<Line>
  readonly billToAddress?: ReadonlyArray<Item>
  readonly pickupAddress?: ReadonlyArray<Address>
  readonly destinationAddress?: ReadonlyArray<Address>
  readonly trailerNumber?: string
  readonly sealNumber?: string
  readonly dockContactName?: string
  readonly dockContactPhone?: string
  readonly times?: Times
  /** BOL-04 and 05. */
  readonly pickedUp?: Times
  readonly total?: Size
}

const mappings: Readonly<Record<OrderSet, Mapping>> = { "204": mapping204, "211": mapping211, "216": mapping216 }

/** Reads a 204, 211 or 216 as a pickup order. */
export const pickupOf = (order: OrderSet, set: TransactionSet, partner: PartnerProfile): ReadOne<EdiPickupOrder> => finish(readOrder(order, set, partner))

export function* readOrder(order: OrderSet, set: TransactionSet, partner: PartnerProfile): Steps<ReadOne<EdiPickupOrder>> {
  const { faults, kept, records: [read], warnings } = yield* readSetInSteps(mappings[order], set, partner)
  const tender = read?.record as Tender | undefined
  // each of these goes through all lines of the order
  yield
  const all = [...faults, ...tender === undefined || faults.length > 0 ? [] : faultsIn(order, tender, partner)]
  yield
  const value = tender === undefined || all.length > 0 ? undefined : orderOf(order, tender, set, partner)
  yield
  const unused = value === undefined ? [] : unusedTimes(tender!, read!.sources, set)
  return { value, sources: value === undefined ? new Map() : sourcesOf(read?.sources), faults: all, warnings, kept: [...kept, ...unused].sort((one, other) => one.position - other.position).slice(0, maxKept) }
}

/** Times of an order, and where they are in the record. */
type TimesAt = readonly [path: string, times: Times]

const timesOf = ({ destinationAddress = [], pickupAddress = [], times = {} }: Tender): ReadonlyArray<TimesAt> => [
  ["times", times],
  ...pickupAddress.map(({ stop = {} }, index): TimesAt => [`pickupAddress.${index}.stop`, stop]),
  ...destinationAddress.map(({ stop = {} }, index): TimesAt => [`destinationAddress.${index}.stop`, stop])
]

/** A pickup has one time to be ready: that of the set, or of the first stop to load at. */
const readyAt = ({ pickupAddress = [], times }: Tender): TimesAt => times === undefined ? ["pickupAddress.0.stop", pickupAddress[0]?.stop ?? {}] : ["times", times]

/** And one delivery: the first that is named. */
const deliveredAt = (tender: Tender): TimesAt | undefined => timesOf(tender).find(([, { deliverBy, deliverFrom, deliverOn }]) => (deliverBy ?? deliverFrom ?? deliverOn) !== undefined)

/** Times that the order has no member for, such as those of its other stops. */
const unusedTimes = (tender: Tender, sources: ReadRecord["sources"], set: TransactionSet): ReadonlyArray<KeptElement> => {
  const [ready] = readyAt(tender)
  const [delivered, times = {}] = deliveredAt(tender) ?? []
  const names = times.deliverFrom === undefined && times.deliverBy === undefined ? ["deliverOn"] : ["deliverFrom", "deliverBy"]
  const used = new Set([...["readyDate", "readyTime", "closeTime"].map((name) => `${ready}.${name}`), ...names.map((name) => `${delivered}.${name}`)])
  const positions = new Set([...sources].flatMap(([path, { position, segment }]) => segment === "G62" && !used.has(path) ? [position] : []))
  return [...positions].flatMap((position) =>
    set.segments[position - 1]!.elements.flatMap((value, index) => value === "" || index > 3 ? [] : [{ segment: "G62", position, element: index + 1, value }]))
}

/** Where intake's names of members differ from those of the mappings. */
const inRequest: Readonly<Record<string, string>> = {
  "total.weight": "grossPickupWeight",
  "total.unit": "weightUofM",
  "total.units": "handlingUnitCount",
  "total.cubicFeet": "cubicFeet",
  "times.readyDate": "readyDate",
  "times.readyTime": "readyTime",
  "times.closeTime": "closeTime",
  "pickedUp.readyDate": "readyDate",
  "pickedUp.readyTime": "readyTime",
  "pickupAddress.0.stop.readyDate": "readyDate",
  "pickupAddress.0.stop.readyTime": "readyTime",
  "pickupAddress.0.stop.closeTime": "closeTime"
}

/** Faults of intake name members of the request. */
const sourcesOf = (sources: ReadRecord["sources"] = new Map()): ReadRecord["sources"] =>
  new Map([...sources].map(([path, source]) => [own(inRequest, path) ?? path, source]))

const fieldOf = { "204": { stop: "S5", weight: "L3" }, "211": { stop: "N1", weight: "AT2" }, "216": { stop: "N1", weight: "TEM" } } as const

/** Lines of freight, and stops, of an order. Intake reads an order at once. */
const maxLines = 1000

const faultsIn = (order: OrderSet, tender: Tender, { requiredReferences = [] }: PartnerProfile): ReadonlyArray<EdiFault> => {
  const { destinationAddress = [], pickupAddress = [] } = tender
  const lines = linesOf(tender).length
  const stops = pickupAddress.length + destinationAddress.length
  if (lines > maxLines || stops > maxLines) {
    return [{ level: "set", code: setFaults.segments, segment: "ST", position: 1, detail: `The order has ${lines} lines of freight and ${stops} stops, and at most ${maxLines} of each are ordered together. Divide it.` }]
  }
  const { stop, weight } = fieldOf[order]
  if (pickupAddress.length === 0) {
    return [{ level: "segment", code: segmentFaults.missing, segment: stop, position: 3, detail: order === "204" ? "The order has no stop to load at (S5-02 LD, CL or PL)." : "The order has no place to load at (N1-01 SF or SH)." }]
  }
  const types = typesOfReferences(tender)
  return [
    ...requiredReferences.filter((type) => !types.has(type)).map(missingReference),
    ...sizeOf(tender, "weight") === undefined
      ? [{ level: "element" as const, code: elementFaults.missing, segment: weight, position: 3, element: order === "204" ? 1 : order === "211" ? 5 : 4, detail: order === "204" ? "The order has no weight: neither L3-01, nor S5-03 of every stop to load at." : "The order has no weight." }]
      : [],
    ...unitsOf(tender).size > 1 ? [{ level: "element" as const, code: elementFaults.code, segment: order === "204" ? "S5" : weight, position: 3, element: 4, detail: "The weights of the order have different units." }] : []
  ]
}

/** Lines of freight: of 211, or of the stops of 204. */
const linesOf = ({ lines = [], pickupAddress = [] }: Tender): ReadonlyArray<Freight> => [
  ...lines.flatMap((line) => {
    const { descriptions = [], freight = [{}], orders: _orders, references: _references, ...own } = line
    const description = descriptions.map(({ text }) => text).join(" ")
    return freight.map((one, index) => ({ ...own, ...one, ...index > 0 || description === "" ? {} : { description } }))
  }),
  ...linesOfStops(pickupAddress).map(({ references: _references, ...line }) => line)
]

const linesOfStops = (stops: ReadonlyArray<Address>): ReadonlyArray<Line> =>
  stops.flatMap(({ stop }) => [...stop?.lines ?? [], ...(stop?.orders ?? []).flatMap(({ lines = [] }) => lines)])

const sizesOf = ({ pickupAddress = [], ...tender }: Tender): ReadonlyArray<Size> => {
  const freight = (tender.lines ?? []).flatMap(({ freight = [] }) => freight)
  return freight.length > 0 ? freight.map(({ handlingUnitCount, ...size }) => ({ ...size, ...handlingUnitCount === undefined ? {} : { units: handlingUnitCount } })) : pickupAddress.map(({ stop = {} }) => stop)
}

/** Of the set as a whole, or of every stop or line; a line may lack handling units, which another has. */
const sizeOf = (tender: Tender, of: "weight" | "units" | "cubicFeet"): number | undefined => {
  const sizes = sizesOf(tender).map((size) => size[of])
  const isPartial = tender.lines !== undefined && of === "units"
  const known = sizes.filter((size) => size !== undefined)
  return tender.total?.[of] ?? (known.length > 0 && (isPartial || known.length === sizes.length) ? known.reduce((sum, size) => sum + size, 0) : undefined)
}

const unitsOf = (tender: Tender): ReadonlySet<string> =>
  new Set([tender.total, ...sizesOf(tender), ...linesOf(tender)].map((each) => each?.unit).filter((unit) => unit !== undefined))

const withoutStop = ({ stop: _stop, ...address }: Address) => address

const textOf = (remarks: Texts = []): string | undefined => remarks.flatMap((remark) => Object.values(remark)).join("\n") || undefined

/** Members without a value are left out. */
const given = <A extends object>(members: A): { readonly [Name in keyof A]?: Exclude<A[Name], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0))) as never

const deliveryOf = ({ deliverBy, deliverFrom, deliverOn }: Times): object =>
  deliverFrom !== undefined && deliverBy !== undefined
    ? { deliveryDateType: "Delivery Window", deliveryBeginDate: deliverFrom, deliveryEndDate: deliverBy }
    : deliverFrom !== undefined
    ? { deliveryDateType: "Deliver On or After Date", deliveryBeginDate: deliverFrom }
    : deliverBy !== undefined
    ? { deliveryDateType: "Deliver By Date", deliveryBeginDate: deliverBy }
    : deliverOn !== undefined
    ? { deliveryDateType: "Required Delivery Date", deliveryBeginDate: deliverOn }
    : {}

const referencesOf = ({ lines = [], orders = [], pickupAddress = [], destinationAddress = [], referenceNumbers = [] }: Tender): ReadonlyArray<Item> => {
  const stops = [...pickupAddress, ...destinationAddress].map(({ stop = {} }) => stop)
  const purchases = [...orders, ...lines.flatMap((line) => line.orders ?? []), ...stops.flatMap((stop) => stop.orders ?? [])].map(({ purchaseOrder }) => purchaseOrder)
  const all = [
    ...referenceNumbers,
    ...[...lines, ...linesOfStops([...pickupAddress, ...destinationAddress])].flatMap(({ references = [] }) => references),
    ...stops.flatMap(({ references = [] }) => references),
    ...purchases.filter((order) => order !== undefined).map((order) => ({ referenceNumber: order, referenceType: "PO" }))
  ]
  // the same purchase order is named by every line of it
  return [...new Map(all.map((reference) => [JSON.stringify(reference), reference])).values()]
}

/** Types of the references, with those that have an element of their own. */
const typesOfReferences = (tender: Tender): ReadonlySet<unknown> => {
  const { proNumber, shipmentNumber } = tender
  return new Set([...referencesOf(tender).map(({ referenceType }) => referenceType), ...proNumber === undefined ? [] : ["PRO"], ...shipmentNumber === undefined ? [] : ["SID"]])
}

/** One for each line of freight, and one for an order without lines. */
const detailsOf = (tender: Tender, isHazardous: boolean): ReadonlyArray<object> => {
  const { destinationAddress = [], pickupAddress = [], proNumber, remarks, shipmentNumber, shipmentServices = [] } = tender
  const stops = [...pickupAddress, ...destinationAddress].map(({ stop = {} }) => stop)
  const shipment = given({
    shipperRef: shipmentNumber,
    proNumber,
    referenceNumbers: referencesOf(tender),
    shipmentServices: [...shipmentServices, ...stops.flatMap(({ services = [] }) => services)],
    specialInstructionsPickup: [textOf(remarks), ...pickupAddress.map(({ stop }) => textOf(stop?.remarks))].filter((text) => text !== undefined).join("\n") || undefined,
    specialInstructionsDelivery: destinationAddress.flatMap(({ stop }) => textOf(stop?.remarks) ?? []).join("\n") || undefined,
    ...deliveryOf(deliveredAt(tender)?.[1] ?? {})
  })
  const freight = linesOf(tender)
  // hazardous freight that no line names is freight of the first
  const isElsewhere = isHazardous && !freight.some(({ hazmatCheck }) => hazmatCheck === true)
  const lines = freight.map(({ cubicFeet: _volume, unit: _unit, ...line }, index) => ({ hazmatCheck: isElsewhere && index === 0, ...line }))
  if (lines.length === 0) return [{ ...shipment, hazmatCheck: isHazardous }]
  const { proNumber: _pro, shipperRef, ..._once } = shipment
  // members of the whole shipment are in the first line only
  return lines.map((line, index) => index === 0 ? { ...shipment, ...line } : { ...shipperRef === undefined ? {} : { shipperRef }, ...line })
}

/** Segments that only hazardous freight has. */
const hazardous: ReadonlySet<string> = new Set(["LH1", "LH2", "LH3"])

const orderOf = (order: OrderSet, tender: Tender, set: TransactionSet, { linearFeet }: PartnerProfile): EdiPickupOrder => {
  const { billToAddress, destinationAddress, dockContactName, dockContactPhone, pickedUp, pickupAddress = [], scac, sealNumber, shipmentNumber, trailerNumber } = tender
  const [, own] = readyAt(tender)
  const at = own.readyDate === undefined ? { ...own, ...pickedUp } : own
  const cubicFeet = sizeOf(tender, "cubicFeet")
  return {
    key: `edi:${keyOfSet(set)}`,
    interchangeDate: set.interchange.date,
    set: order,
    scac,
    ...shipmentNumber === undefined ? {} : { shipmentNumber },
    request: {
      isTest: set.interchange.isTest ? "True" : "False",
      requestFunction: "NewPickup",
      pickupAddress: pickupAddress.map((address) => ({ orgCountry: "USA", ...withoutStop(address) })),
      grossPickupWeight: sizeOf(tender, "weight")!,
      weightUofM: [...unitsOf(tender)][0] ?? "LB",
      handlingUnitCount: sizeOf(tender, "units") ?? 0,
      ...cubicFeet !== undefined ? { cubicFeet } : linearFeet === undefined ? {} : { linearFeet },
      readyDate: at.readyDate ?? null,
      readyTime: at.readyTime ?? null,
      closeTime: at.closeTime ?? null,
      ...given({ trailerNumber, sealNumber, dockContactName, dockContactPhone, billToAddress }),
      shipmentDetails: detailsOf(tender, set.segments.some(({ id }) => hazardous.has(id))),
      ...destinationAddress === undefined ? {} : { destinationAddress: destinationAddress.map(withoutStop) }
    } as unknown as PickupInput
  }
}
