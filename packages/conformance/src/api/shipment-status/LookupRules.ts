/** Rules of area A about lookups. */
import type { Exchange } from "../ApiCaller.ts"
import { callText, expectEqual, expectJson, expectStatus, expectUnauthorized, jsonAnswer } from "../Expectations.ts"
import type { KnownShipment } from "../Fixtures.ts"
import { making, must, type RuleContext, rulesOf, should, Violation } from "../Rule.ts"
import { around, comparable, lookupsOf, publicMembers, PublicShipment, rangePath, ShipmentsInRange, VerifiedShipment } from "./StatusShapes.ts"

type Kind = keyof ReturnType<typeof lookupsOf>

const keys: Readonly<Record<Kind, string>> = { pro: "PRO number", bol: "BOL number and origin postal code", po: "PO number and destination postal code" }
const kinds = Object.keys(keys) as ReadonlyArray<Kind>

const own = ["customer", "shipment"] as const
const foreign = ["customer", "foreignShipment"] as const

const verified = (context: RuleContext) =>
  jsonAnswer(context.call("a", "GET", lookupsOf(context.fixtures.shipment!, "verified").pro), VerifiedShipment, 200)

const onVerified = making(verified)

/** Expects the public shape of the shipment, and nothing more. */
const expectPublic = (exchange: Exchange, { proNumber }: KnownShipment, status: number): string => {
  const { ProNumber } = expectJson(exchange, PublicShipment, status)
  expectEqual(comparable(ProNumber), comparable(proNumber), "ProNumber", exchange)
  const more = Object.keys(exchange.json as object).filter((name) => !publicMembers.includes(name))
  if (more.length > 0) throw new Violation(`${callText(exchange)} shows ${more.join(", ")} beside the four public members.`, exchange)
  return "four members"
}

const unknownPath = (kind: Kind, form: "verified" | "public"): string =>
  lookupsOf({ shipmentId: "", proNumber: "WAYBILLCHECK0", bolNumber: "WAYBILLCHECK0", originPostalCode: "60608", poNumber: "WAYBILLCHECK0", destinationPostalCode: "60608", accountNumber: "", pickupDate: "" }, form)[kind]

/** The same number with another postal code. */
const wrongPostalCode = ({ fixtures }: RuleContext, kind: "bol" | "po", form: "verified" | "public"): string =>
  lookupsOf({ ...fixtures.shipment!, originPostalCode: "99950", destinationPostalCode: "99950" }, form)[kind]

const verifiedRules = kinds.flatMap((kind) => rulesOf("a", `Area A, Endpoints: verified lookup by ${keys[kind]}`, own, [
  must(`${kind}-verified`, `answers 200 with the verified shape for a shipment of the caller, by ${keys[kind]}`, async (context) => {
    const { shipment } = context.fixtures
    const [{ ProNumber }, exchange] = await jsonAnswer(context.call("a", "GET", lookupsOf(shipment!, "verified")[kind]), VerifiedShipment, 200)
    expectEqual(comparable(ProNumber), comparable(shipment!.proNumber), "ProNumber", exchange)
    return ProNumber
  }),
  must(`${kind}-foreign`, `answers 202 with the public shape for a shipment that is not the caller's, by ${keys[kind]}`, { needs: foreign }, async (context) => {
    const shipment = context.fixtures.foreignShipment!
    return expectPublic(await context.call("a", "GET", lookupsOf(shipment, "verified")[kind]), shipment, 202)
  }),
  must(`${kind}-unknown`, `answers 404 for an unknown shipment, by ${keys[kind]}`, {
    needs: ["customer"]
  }, async (context) => String(expectStatus(await context.call("a", "GET", unknownPath(kind, "verified")), 404).status))
]))

const publicRules = kinds.flatMap((kind) => rulesOf("a", `Area A, Endpoints: public lookup by ${keys[kind]}`, own, [
  must(`${kind}-public`, `answers 200 with the public shape and nothing more, by ${keys[kind]}`, async (context) => {
    const shipment = context.fixtures.shipment!
    return expectPublic(await context.call("a", "GET", lookupsOf(shipment, "public")[kind]), shipment, 200)
  }),
  must(`${kind}-public-foreign`, `answers 200 with the public shape and nothing more for a shipment that is not the caller's, by ${keys[kind]}`, { needs: foreign }, async (context) => {
    const shipment = context.fixtures.foreignShipment!
    return expectPublic(await context.call("a", "GET", lookupsOf(shipment, "public")[kind]), shipment, 200)
  }),
  must(`${kind}-public-unknown`, `answers 404 for an unknown shipment in the public form, by ${keys[kind]}`, {
    needs: ["customer"]
  }, async (context) => String(expectStatus(await context.call("a", "GET", unknownPath(kind, "public")), 404).status))
]))

const postalCodeRules = (["bol", "po"] as const).flatMap((kind) => rulesOf("a", `Area A: the lookup key is ${keys[kind]}`, own, [
  must(`${kind}-postal-code`, `answers 404 for a known ${kind.toUpperCase()} number with another postal code`, async (context) => {
    for (const form of ["verified", "public"] as const) expectStatus(await context.call("a", "GET", wrongPostalCode(context, kind, form)), 404)
    return "404"
  })
]))

const contentRules = rulesOf("a", "Area A: verified shipment response", own, [
  must("delay-reason", "gives DelayReasonCode when Late is true", onVerified(([{ DelayReasonCode, Late }, exchange]) => {
    if (Late === true && (DelayReasonCode ?? "") === "") throw new Violation("Late is true, and there is no DelayReasonCode.", exchange)
    return `Late is ${Late}`
  })),
  must("partner-carrier", "gives PartnerCarrierName and PartnerCarrierSCAC when the milestone is Interline", onVerified(([{ PartnerCarrierName, PartnerCarrierSCAC, ShipmentMilestoneStatus }, exchange]) => {
    if (ShipmentMilestoneStatus === "Interline" && ((PartnerCarrierName ?? "") === "" || (PartnerCarrierSCAC ?? "") === "")) throw new Violation("The milestone is Interline, and the partner carrier is missing.", exchange)
    return ShipmentMilestoneStatus
  })),
  must("cross-border", "gives CrossBorderStatus when CrossBorder is true", onVerified(([{ CrossBorder, CrossBorderStatus }, exchange]) => {
    if (CrossBorder === true && (CrossBorderStatus ?? null) === null) throw new Violation("CrossBorder is true, and there is no CrossBorderStatus.", exchange)
    return `CrossBorder is ${CrossBorder}`
  })),
  must("unique-id", "makes UniqueID of the PRO number, the SCAC and a date as YYYYMMDD", onVerified(([{ ProNumber, UniqueID }, exchange]) => {
    const [id, pro] = [comparable(UniqueID), comparable(ProNumber)]
    if (!id.startsWith(pro) || !/^[A-Z]{2,4}\d{8}$/u.test(id.slice(pro.length))) throw new Violation(`UniqueID is ${UniqueID}; ${ProNumber}, a SCAC and YYYYMMDD are expected.`, exchange)
    return UniqueID
  })),
  should("account", "gives the account of the shipment in BillToAccountNumber", onVerified(([{ BillToAccountNumber }, exchange], context) => {
    expectEqual(BillToAccountNumber, context.fixtures.shipment!.accountNumber, "BillToAccountNumber", exchange)
    return BillToAccountNumber
  })),
  must("public-agrees", "gives the same milestone, estimate and days in both forms", { source: "Area A: public and verified form of one shipment" }, async (context) => {
    const [full] = await verified(context)
    const [short, exchange] = await jsonAnswer(context.call("a", "GET", lookupsOf(context.fixtures.shipment!, "public").pro), PublicShipment, 200)
    for (const member of ["ShipmentMilestoneStatus", "UpdatedETA", "EstimatedStandardDay"] as const) expectEqual(short[member], full[member], member, exchange)
    return full.ShipmentMilestoneStatus
  })
])

const dayMillis = 86_400_000

const longAgo = ["1990-01-01T00:00:00Z", "1990-01-31T00:00:00Z"] as const

/** A day of the fixtures, as many days later. */
const daysAfter = (day: string, days: number): string => new Date(Date.parse(`${day.slice(0, 10)}T00:00:00Z`) + days * dayMillis).toISOString()

const inRange = async (context: RuleContext, range: readonly [string, string]) => {
  const exchange = await context.call("a", "GET", rangePath(context.fixtures.shipment!.accountNumber, ...range))
  expectStatus(exchange, 200, 204)
  const found = exchange.status === 204 ? [] : expectJson(exchange, ShipmentsInRange, 200)
  return { exchange, found: Array.isArray(found) ? found as ReadonlyArray<typeof VerifiedShipment.Type> : [found as typeof VerifiedShipment.Type] }
}

const rangeRules = rulesOf("a", "Area A, Endpoints: shipments by account and pickup date", own, [
  must("range", "answers 200 with the verified shape of the account's shipments that were picked up in the range, each once", async (context) => {
    const { pickupDate, proNumber } = context.fixtures.shipment!
    const { exchange, found } = await inRange(context, around(pickupDate))
    if (!found.some(({ ProNumber }) => comparable(ProNumber) === comparable(proNumber))) throw new Violation(`${proNumber} was picked up on ${pickupDate}, and is not in the answer.`, exchange)
    expectEqual(new Set(found.map(({ UniqueID }) => UniqueID)).size, found.length, "The number of different shipments", exchange)
    return `${found.length} shipments`
  }),
  must("range-bounds", "leaves out shipments that were picked up before the range, or after it", async (context) => {
    const { pickupDate, proNumber } = context.fixtures.shipment!
    for (const [from, to, where] of [[-9, -2, "after"], [2, 9, "before"]] as const) {
      const { exchange, found } = await inRange(context, [daysAfter(pickupDate, from), daysAfter(pickupDate, to)])
      if (found.some(({ ProNumber }) => comparable(ProNumber) === comparable(proNumber))) throw new Violation(`${proNumber} was picked up on ${pickupDate}, ${where} the range, and is in the answer.`, exchange)
    }
    return "left out"
  }),
  must("range-access", "leaves out shipments that the caller has no access to", { needs: ["customer", "shipment", "foreignShipment"] }, async (context) => {
    const { proNumber } = context.fixtures.foreignShipment!
    const { exchange, found } = await inRange(context, around(context.fixtures.shipment!.pickupDate))
    if (found.some(({ ProNumber }) => comparable(ProNumber) === comparable(proNumber))) throw new Violation(`${proNumber} is not the caller's, and is in the answer.`, exchange)
    return `${found.length} shipments`
  }),
  must("range-empty", "answers 204 without a body when no shipment is in the range", async (context) => {
    const exchange = await context.call("a", "GET", rangePath(context.fixtures.shipment!.accountNumber, ...longAgo))
    expectStatus(exchange, 204)
    expectEqual(exchange.text, "", "The body", exchange)
    return "204"
  }),
  must("range-unknown", "answers 404 for an unknown account", {
    needs: ["customer"]
  }, async (context) => String(expectStatus(await context.call("a", "GET", rangePath("WAYBILL-CHECK-NO-SUCH-ACCOUNT", ...longAgo)), 404).status)),
  must("range-foreign", "answers 401 for an account that the caller has no access to", { needs: foreign }, async (context) => {
    const { accountNumber, pickupDate } = context.fixtures.foreignShipment!
    return String(expectStatus(await context.call("a", "GET", rangePath(accountNumber, ...around(pickupDate))), 401).status)
  }),
  must("range-unauthenticated", "answers 401 to a date-range query without valid credentials", { needs: ["shipment"] }, async (context) => {
    const { accountNumber, pickupDate } = context.fixtures.shipment!
    return expectUnauthorized((as) => context.call("a", "GET", rangePath(accountNumber, ...around(pickupDate)), { as }))
  }),
  should("range-invalid", "refuses dates that are none", async (context) =>
    String(expectStatus(await context.call("a", "GET", rangePath(context.fixtures.shipment!.accountNumber, "yesterday", "today")), 400, 404, 422).status))
])

const accessRules = rulesOf("a", "Authentication", ["shipment"], [
  should("verified-unauthenticated", "answers 401 to a verified lookup without valid credentials", {
    source: "published requirements of area A: verified means logged in"
  }, (context) =>
    expectUnauthorized(...kinds.map((kind) => (as: "nobody" | "invalid") => context.call("a", "GET", lookupsOf(context.fixtures.shipment!, "verified")[kind], { as })))),
  must("foreign-other", "answers 202 to another customer who looks up the first one's shipment", { needs: ["other", "shipment"] }, async (context) => {
    const shipment = context.fixtures.shipment!
    return expectPublic(await context.call("a", "GET", lookupsOf(shipment, "verified").pro, { as: "other" }), shipment, 202)
  })
])

export const lookupRules = [...verifiedRules, ...publicRules, ...postalCodeRules, ...contentRules, ...rangeRules, ...accessRules]
