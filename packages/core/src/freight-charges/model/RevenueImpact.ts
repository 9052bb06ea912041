/** Decides whether a change of a freight bill may change its price. */
import { canonicalText, membersOf } from "../../shared/Json.ts"
import type { ChargeJson } from "./PreliminaryFreightCharge.ts"

const items = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []

const pick = (value: unknown, names: ReadonlyArray<string>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(names.map((name) => [name, membersOf(value)[name]]))

const totals = ["grossWeight", "netWeight", "weightUnit", "handlingUnits", "linearLength", "dimensionsUnit", "cube", "cubeDimensionsUnit", "declaredValue", "currency"]
const party = ["account", "name", "address1", "address2", "city", "stateProvince", "postalCode", "country"]
const unit = ["count", "type", "tareWeight", "weight", "weightUnit", "length", "width", "height", "dimensionUnit", "stackable"]
const line = ["weight", "weightUnit", "pieces", "classification", "nmfc", "nmfcSub"]

/** Published triggers: changed charges, services, terms, parties, weights, sizes and classes. SPEC-GAP-E10 */
const ratedBy = (charge: ChargeJson): string => {
  const { accessorials, billTo, charges, commodities, destination, origin, payment, shipmentTotals } = charge
  return canonicalText([
    charges,
    items(membersOf(accessorials)["codes"]).map(String).sort(),
    pick(payment, ["terms"]),
    [billTo, origin, destination].map((each) => pick(each, party)),
    pick(shipmentTotals, totals),
    items(membersOf(commodities)["handlingUnits"]).map((each) => [
      pick(each, unit),
      items(membersOf(each)["lineItems"]).map((own) => pick(own, line))
    ])
  ])
}

/** Whether two versions differ in a member that determines the charges. SPEC-GAP-E10 */
export const hasRevenueImpact = (before: ChargeJson, after: ChargeJson): boolean => ratedBy(before) !== ratedBy(after)
