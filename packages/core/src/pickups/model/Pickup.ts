/** A stored pickup, and the changes to it. */
import { type Fault, fault } from "../../shared/Fault.ts"
import { dateParts, dayMillis } from "./DateText.ts"
import { type KeptInformationCode, readInformationCode, shipperCancelled, shipperRescheduled } from "./InformationCode.ts"
import { given } from "./KeptText.ts"
import { fixedClocks, type LocationClocks, clocksNamed, zoneText } from "./LocationZone.ts"
import type { CarrierDetails, PickupAnswer } from "./PickupAnswer.ts"
import type { PickupReport } from "./PickupReport.ts"
import type { PickupRequest } from "./PickupRequest.ts"
import { canMovePickup, isFinalPickup, needsInformationCode, type PickupStatus, readPickupStatus, whyNotMoved } from "./PickupStatus.ts"
import { clocksAt, shownText, readPickupWindow } from "./PickupWindow.ts"

/** Expected arrival of the driver, in local time of the place. */
export interface Eta {
  readonly stopEta: string
  readonly stopEtaTimeZone: string | null
}

/** A request that waits for the carrier's decision: the order, whose id is the pickup's, or a change of it. */
export interface WaitingRequest {
  readonly id: string
  readonly request: PickupRequest
  /** The idempotency key of the order, whose answer will be the decision. */
  readonly key: string | null
  /** Time of receipt, in milliseconds since 1970. */
  readonly since: number
}

/** What is kept of a pickup: the request, its status, and what the carrier reported. */
export interface KeptPickup {
  readonly request: PickupRequest
  readonly status: PickupStatus
  /** The status in its most specific published wording. */
  readonly words: string
  readonly informationCode: KeptInformationCode | null
  readonly eta: Eta | null
  readonly equipment: NonNullable<PickupReport["equipmentInformation"]> | null
  readonly shipments: NonNullable<PickupReport["shipmentArray"]> | null
  readonly carrier: CarrierDetails
  /** Position of the last history entry. */
  readonly entries: number
  /** Fingerprint of the last report. A report with the same one is a duplicate. */
  readonly lastReport: string | null
  /** `null`: the carrier has decided. */
  readonly waiting: WaitingRequest | null
  /** The answer to the last request that waited. */
  readonly decided: { readonly id: string; readonly answer: PickupAnswer } | null
}

/** A pickup as it is when it was ordered. */
export const newPickup = (request: PickupRequest, status: PickupStatus, carrier: CarrierDetails, waiting: WaitingRequest | null): KeptPickup => ({
  request,
  status,
  words: status,
  informationCode: null,
  eta: null,
  equipment: null,
  shipments: null,
  carrier,
  entries: 1,
  lastReport: null,
  waiting,
  decided: null
})

/** Ends the wait with the answer to the request that waited. */
export const withAnswer = (pickup: KeptPickup, { id }: WaitingRequest, answer: PickupAnswer): KeptPickup => ({ ...pickup, waiting: null, decided: { id, answer } })

/** The pickup after the carrier's decision on its order. */
export const decidedPickup = (pickup: KeptPickup, status: PickupStatus, carrier: CarrierDetails): KeptPickup => ({ ...inStatus(pickup, status, null), carrier })

const inStatus = (pickup: KeptPickup, status: PickupStatus, informationCode: KeptInformationCode | null): KeptPickup => ({
  ...pickup,
  status,
  words: status,
  informationCode
})

/** The pickup after its shipper cancelled it. */
export const cancelledPickup = (pickup: KeptPickup): KeptPickup => inStatus(pickup, "Cancelled", shipperCancelled)

const dayOf = (request: PickupRequest): number | undefined => {
  const reading = readPickupWindow(request)
  return reading._tag === "Window" ? reading.window?.day : undefined
}

/** Whether a change moves an accepted pickup to another day. */
export const isOtherDay = (pickup: KeptPickup, request: PickupRequest): boolean => dayOf(pickup.request) !== dayOf(request)

/** Replaces the request. If the day changes, the pickup becomes rescheduled by the shipper. SPEC-GAP-C17 */
export const changedPickup = (pickup: KeptPickup, request: PickupRequest, carrier: CarrierDetails): KeptPickup => {
  const changed = { ...pickup, request, carrier }
  return isOtherDay(pickup, request) ? { ...inStatus(changed, "Rescheduled", shipperRescheduled), ...unknownTruck } : changed
}

/** A rescheduled pickup has no truck on its way. */
const unknownTruck = { eta: null, equipment: null } as const

/** What a carrier's report does to a pickup. */
export type PickupReportOutcome =
  | { readonly _tag: "Taken"; readonly pickup: KeptPickup }
  | { readonly _tag: "Refused"; readonly fault: Fault }

const refused = (member: string, detail: string, code: Fault["code"] = "invalid"): PickupReportOutcome => ({
  _tag: "Refused",
  fault: fault([member], detail, code)
})

/**
 * Applies a report. A status that does not change is not a move, so the rest of the report always applies. A move resets the information
 * code, and keeps shipments and equipment.
 */
export const reportedPickup = (pickup: KeptPickup, report: PickupReport): PickupReportOutcome => {
  const reported = report.status === undefined ? undefined : readPickupStatus(report.status)
  const to = reported?.status ?? pickup.status
  if (isFinalPickup(pickup.status) || (to !== pickup.status && !canMovePickup(pickup.status, to))) {
    return refused("status", whyNotMoved(pickup.status, to), "conflict")
  }
  const informationCode = report.informationCode ? readInformationCode(report.informationCode) : null
  if (informationCode === undefined) {
    return refused("informationCode", "This code is not published: give its codeDescription too.", "required")
  }
  if (reported !== undefined && needsInformationCode(to) && informationCode === null) {
    return refused("informationCode", `${reported.words} needs an informationCode that says why.`, "required")
  }
  const eta = reportedEta(pickup.request, report)
  if (eta === undefined) return refused("stopEtaTimeZone", "Use UTC-5, UTC+5:30 or the name of a time zone, such as America/Chicago.")
  const moved = reported !== undefined && (reported.words !== pickup.words || to === "Rescheduled")
  const isLater = moved && (to === "Rescheduled" || to === "Re-Attempt")
  return {
    _tag: "Taken",
    pickup: {
      ...pickup,
      ...(isLater ? unknownTruck : {}),
      status: to,
      words: reported?.words ?? pickup.words,
      informationCode: informationCode ?? (moved ? null : pickup.informationCode),
      ...(eta === null ? {} : { eta }),
      ...(report.equipmentInformation === undefined ? {} : { equipment: report.equipmentInformation }),
      ...(report.shipmentArray === undefined ? {} : { shipments: report.shipmentArray })
    }
  }
}

/** `null`: not reported. `undefined`: unknown time zone. */
const reportedEta = (request: PickupRequest, report: PickupReport): Eta | null | undefined => {
  const zone = given(report.stopEtaTimeZone)
  const named = zone === undefined ? clocksAt(request) : clocksNamed(zone)
  if (zone !== undefined && named === undefined) return undefined
  const text = given(report.stopEta)
  if (text === undefined) return null
  const parts = dateParts(text)!
  if (parts.offset === undefined) return { stopEta: isFullTime.test(text) ? text : shownText((parts.day ?? 0) + (parts.clock ?? 0)), stopEtaTimeZone: named === undefined ? null : zoneText(offsetShown(parts, named)) }
  const instant = (parts.day ?? 0) + (parts.clock ?? 0) - parts.offset
  const offsetAt = named ?? fixedClocks(parts.offset)
  return { stopEta: shownText(instant + offsetAt(instant)), stopEtaTimeZone: zoneText(offsetAt(instant)) }
}

/** A local date-time that is shown as it was reported. Others are none to readers of the interface. */
const isFullTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?$/u

/** UTC offset at a local time. If two offsets apply, the one of the earlier instant. */
const offsetShown = ({ clock, day }: { readonly clock: number | undefined; readonly day: number | undefined }, offsetAt: LocationClocks): number => {
  const local = (day ?? 0) + (clock ?? 0)
  const [before, after] = [offsetAt(local - dayMillis), offsetAt(local + dayMillis)]
  const early = local - before
  return offsetAt(early) === before ? before : after
}
