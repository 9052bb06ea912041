/** The JSON of a notification about a version: for its debtor, and for a former debtor. */
import { membersOf } from "../../shared/Json.ts"
import { isCancellation, noLongerDebtor, noLongerDebtorMessage } from "./ChargeLog.ts"
import type { ChargeSubscriptionSettings } from "./ChargeSubscription.ts"
import { type BillVersion, currentOf, type FreightBill, shownLog } from "./FreightBill.ts"
import type { ChargeJson } from "./PreliminaryFreightCharge.ts"

/** Which events a subscription sees. */
export type LogView = "none" | "impacts" | "all"

/** How much of the change log a subscription gets: `includeEventLog` and `eventType` decide. */
export const logViewOf = ({ dataOptions, includeEventLog }: ChargeSubscriptionSettings): LogView => {
  if (!includeEventLog || dataOptions.eventType === "no_events") return "none"
  return dataOptions.eventType === "all_impacts" ? "all" : "impacts"
}

const named = (bill: FreightBill, version: number, pfc: unknown): Readonly<Record<string, unknown>> => ({
  ...membersOf(pfc),
  uniqueID: bill.billId,
  function: `PFC${version}`,
  header: { ...membersOf(membersOf(pfc)["header"]), function: `PFC${version}` }
})

/** The current version, with the events of the visible versions. */
export const versionJson = (bill: FreightBill, view: LogView, mayShow: (version: BillVersion) => boolean): string => {
  const { charge } = bill
  const shown = view === "none" ? [] : bill.versions.filter((each) => mayShow(each) && (view === "all" || each.impact))
  const messages = shown.flatMap((each) => each.messages)
  return JSON.stringify({
    ...charge,
    pfc: named(bill, currentOf(bill).version, charge["pfc"]),
    charges: {
      ...membersOf(charge["charges"]),
      ...(view === "none" ? {} : { changeLog: shown.flatMap(shownLog) }),
      ...(messages.length === 0 ? {} : { changeLogMessages: messages })
    }
  })
}

/**
 * The notification to a former debtor. It contains nothing about the new debtor and no charges, only what identifies the shipment in
 * earlier notifications, and the reason that a removal gives. SPEC-GAP-E13
 */
export const removalJson = (last: FreightBill, current: BillVersion, date: string): string => {
  const name = `PFC${current.version}`
  // the log of a bill that has a new debtor is not for the old one
  const { log, messages } = current.change === "removed" ? current : { log: [], messages: [] }
  const { billTo, charges, destination, origin, payment, pfc, referenceNumbers, shipmentTotals } = last.charge
  const { isTest, version: published } = membersOf(pfc)
  const { pickupDate, weightUnit } = membersOf(shipmentTotals)
  return JSON.stringify({
    pfc: { uniqueID: last.billId, function: name, header: { function: name }, date, version: published, isTest },
    payment,
    shipmentTotals: { pickupDate, grossWeight: 0, weightUnit, handlingUnits: 0 },
    referenceNumbers: { pro: membersOf(referenceNumbers)["pro"] },
    origin,
    destination,
    billTo,
    commodities: { handlingUnits: [] },
    charges: {
      grossCharges: 0,
      discountAmount: 0,
      discountPercent: 0,
      fuelSurchargePercent: 0,
      fuelSurchargeAmount: 0,
      currencyType: membersOf(charges)["currencyType"],
      preliminaryTotalCharges: 0,
      changeLog: log.some(isCancellation) ? log : [noLongerDebtor, ...log],
      changeLogMessages: messages.length === 0 ? [noLongerDebtorMessage] : messages
    }
  } satisfies ChargeJson)
}
