/** 204 as an order of a pickup, and 990 as the answer to it, in both directions. */
import type { PickupInput } from "@waybill/core/pickups"
import { type EdiWarning, type KeptElement, type ReadRecord, readSet } from "../mapping/ReadSet.ts"
import { type WriteSetResult, writeSet } from "../mapping/WriteSet.ts"
import type { PartnerProfile } from "../partners/PartnerProfile.ts"
import { type EdiFault, elementFaults, segmentFaults } from "../x12/EdiFault.ts"
import { keyOfSet, type TransactionSet } from "../x12/Interchange.ts"
import { mapping204 } from "./Mapping204.ts"
import { mapping990 } from "./Mapping990.ts"

/** An order, for `pickups.create`. */
export interface EdiPickupOrder {
  /** Made of the control numbers: use it as the idempotency key, so that a repeated file orders no second truck. */
  readonly key: string
  readonly scac: string
  /** The shipper's number. The answer names it. */
  readonly shipmentNumber: string
  readonly request: PickupInput
}

export interface EdiPickupAnswer {
  readonly scac: string
  readonly shipmentNumber: string
  readonly decision: "accept" | "reject"
  readonly date?: string
  readonly references?: ReadonlyArray<{ readonly type: string; readonly value: string }>
  readonly message?: string
}

export interface ReadOne<A> {
  /** Absent if faults refuse the set. */
  readonly value: A | undefined
  readonly sources: ReadRecord["sources"]
  readonly faults: ReadonlyArray<EdiFault>
  readonly warnings: ReadonlyArray<EdiWarning>
  readonly kept: ReadonlyArray<KeptElement>
}

interface Stop {
  readonly weight?: number
  readonly unit?: string
  readonly units?: number
  readonly cubicFeet?: number
  readonly readyDate?: string
  readonly readyTime?: string
  readonly closeTime?: string
}

type Address = Readonly<Record<string, unknown>> & { readonly stop?: Stop }

interface Tender {
  readonly scac: string
  readonly shipmentNumber: string
  readonly referenceNumbers?: ReadonlyArray<object>
  readonly billToAddress?: ReadonlyArray<object>
  readonly pickupAddress?: ReadonlyArray<Address>
  readonly destinationAddress?: ReadonlyArray<Address>
  readonly total?: Stop
}

export const pickupOf204 = (set: TransactionSet, partner: PartnerProfile): ReadOne<EdiPickupOrder> => {
  const { faults, kept, records: [read], warnings } = readSet(mapping204, set, partner)
  const tender = read?.record as Tender | undefined
  const all = [...faults, ...tender === undefined ? [] : missingIn(tender)]
  const value = tender === undefined || all.length > 0 ? undefined : orderOf(tender, set, partner)
  return { value, sources: read?.sources ?? new Map(), faults: all, warnings, kept }
}

/** A number of every stop, or of the set as a whole. */
const sumOf = (stops: ReadonlyArray<Address>, of: "weight" | "units", total: Stop | undefined): number | undefined =>
  total?.[of] ?? (stops.every(({ stop }) => stop?.[of] !== undefined) ? stops.reduce((sum, { stop }) => sum + stop![of]!, 0) : undefined)

const missingIn = ({ pickupAddress = [], total }: Tender): ReadonlyArray<EdiFault> => {
  if (pickupAddress.length === 0) return [{ level: "segment", code: segmentFaults.missing, segment: "S5", position: 3, detail: "The order has no stop to load at (S5-02 LD, CL or PL)." }]
  const units = new Set([total?.unit, ...pickupAddress.map(({ stop }) => stop?.unit)].filter((unit) => unit !== undefined))
  return [
    ...sumOf(pickupAddress, "weight", total) === undefined ? [{ level: "element" as const, code: elementFaults.missing, segment: "L3", position: 3, element: 1, detail: "The order has no weight: neither L3-01, nor S5-03 of every stop to load at." }] : [],
    ...units.size > 1 ? [{ level: "element" as const, code: elementFaults.code, segment: "S5", position: 3, element: 4, detail: "The weights of the order have different units." }] : []
  ]
}

const withoutStop = ({ stop: _stop, ...address }: Address) => address

const orderOf = (tender: Tender, set: TransactionSet, { linearFeet }: PartnerProfile): EdiPickupOrder => {
  const { billToAddress, destinationAddress, pickupAddress = [], referenceNumbers, scac, shipmentNumber, total } = tender
  const first = pickupAddress[0]?.stop
  const weight = sumOf(pickupAddress, "weight", total)!
  return {
    key: `edi:${keyOfSet(set)}`,
    scac,
    shipmentNumber,
    request: {
      isTest: set.interchange.isTest ? "True" : "False",
      requestFunction: "NewPickup",
      pickupAddress: pickupAddress.map((address) => ({ orgCountry: "USA", ...withoutStop(address) })),
      grossPickupWeight: weight,
      weightUofM: total?.unit ?? first?.unit ?? "LB",
      handlingUnitCount: sumOf(pickupAddress, "units", total) ?? 0,
      ...total?.cubicFeet !== undefined ? { cubicFeet: total.cubicFeet } : linearFeet === undefined ? {} : { linearFeet },
      readyDate: first?.readyDate ?? null,
      readyTime: first?.readyTime ?? null,
      closeTime: first?.closeTime ?? null,
      shipmentDetails: [{ shipperRef: shipmentNumber, hazmatCheck: false, ...referenceNumbers === undefined ? {} : { referenceNumbers } }],
      ...destinationAddress === undefined ? {} : { destinationAddress: destinationAddress.map(withoutStop) },
      ...billToAddress === undefined ? {} : { billToAddress }
    } as unknown as PickupInput
  }
}

export const answerOf990 = (set: TransactionSet, partner: PartnerProfile): ReadOne<EdiPickupAnswer> => {
  const { faults, kept, records: [read], warnings } = readSet(mapping990, set, partner)
  const answer = read?.record as unknown as EdiPickupAnswer | undefined
  const unknown: ReadonlyArray<EdiFault> = faults.length === 0 && answer?.decision === undefined
    ? [{ level: "element", code: elementFaults.code, segment: "B1", position: 2, element: 4, detail: "B1-04 is A (accepted) or D (declined)." }]
    : []
  const all = [...faults, ...unknown]
  return { value: all.length > 0 ? undefined : answer, sources: read?.sources ?? new Map(), faults: all, warnings, kept }
}

export const write990 = (answer: EdiPickupAnswer, partner: PartnerProfile, version: string = partner.version): WriteSetResult =>
  writeSet(mapping990, answer, partner, version)
