/** Rules of area C. All pickups are tests. */
import type { CallerName, Exchange } from "../ApiCaller.ts"
import { callText, expectEachRefused, expectEqual, expectHidden, expectJson, expectStatus, expectUnauthorized, jsonAnswer, Message, read, withoutEach } from "../Expectations.ts"
import { must, type RuleContext, rulesOf, should, Violation } from "../Rule.ts"
import { digitsOf, fullPickup, lookup, onPickup, orderPickup, PickupAnswers, pickupBody, type PickupBody, pickupPath, PickupVisibility } from "./PickupShapes.ts"

const needs = ["customer"] as const
const unknownNumber = "9999999990"

const ordering = (context: RuleContext, body: unknown) => () => context.call("c", "POST", "/v1/pickups/", { body })
const refusing = (context: RuleContext, bodies: ReadonlyArray<readonly [string, object]>) => expectEachRefused(bodies.map(([what, more]) => [what, ordering(context, { ...pickupBody(context), ...more })]))

const visible = (context: RuleContext, more: Readonly<Record<string, string>>) =>
  jsonAnswer(lookup(context, more), PickupVisibility, 200)

/** Expects that the request is taken, and cancels the pickup at the end. */
const expectTaken = async (context: RuleContext, body: object): Promise<void> => {
  const [{ carrierPickupNumber }] = expectJson(await ordering(context, body)(), PickupAnswers, 200, 201)
  if (carrierPickupNumber !== null) context.afterwards(() => context.call("c", "DELETE", pickupPath(carrierPickupNumber)))
}

const createRules = rulesOf("c", "Area C, Operations: Create pickup request", needs, [
  must("create", "answers a pickup request with an array of pickup responses", onPickup(({ exchange }) =>
    `${expectJson(exchange, PickupAnswers, 200, 201).length} responses`)),
  should("create-status", "answers a pickup request with 200", {
    source: "published definition of area C: 200"
  }, async (context) => String(expectStatus((await orderPickup(context)).exchange, 200).status)),
  should("create-number", "gives a number with an accepted request, and none with another", {
    source: "published requirements of area C: accept, reject or call us; only accepted requests have a number"
  }, async (context) => {
    const [[{ carrierPickupNumber, pickupStatus }], exchange] = await jsonAnswer(ordering(context, pickupBody(context))(), PickupAnswers, 200, 201)
    const isAccepted = /^accept/iu.test(pickupStatus ?? "")
    if (isAccepted !== ((carrierPickupNumber ?? "") !== "")) throw new Violation(`pickupStatus is ${pickupStatus}, and carrierPickupNumber ${carrierPickupNumber}.`, exchange)
    if (carrierPickupNumber !== null) context.afterwards(() => context.call("c", "DELETE", pickupPath(carrierPickupNumber)))
    return `${pickupStatus}, ${carrierPickupNumber}`
  }),
  should("create-references", "returns the shipper's references in shipperRef", onPickup(({ body, exchange }) => {
    const [{ shipperRef }] = expectJson(exchange, PickupAnswers, 200, 201)
    expectEqual(shipperRef?.includes(body.shipmentDetails[0]!.shipperRef), true, "Whether shipperRef has LOAD-7", exchange)
    return "LOAD-7"
  })),
  must("create-required", "refuses a request without one of its required members", async (context) => {
    const body = pickupBody(context)
    const names = Object.keys(body) as ReadonlyArray<keyof PickupBody>
    await expectEachRefused(withoutEach(body, names).map(([what, less]) => [what, ordering(context, less)]))
    return `${names.length} members`
  }),
  must("create-nulls", "takes a request whose members that may be null are null", async (context) => {
    const lists = ["shipmentDetails", "destinationAddress", "billToAddress"]
    const values = ["customer", "emergencyContact", "cubicFeet", "linearFeet", "trailerNumber", "loadedBy", "sealNumber", "warehouseName", "readyDate", "readyTime", "closeTime", "openDate", "openTime", "pickupLocationTimeZone", "dockDoorNumber", "dockContactEmail", "dockContactName", "dockContactPhone", "confirmationEmail"]
    for (const names of [lists, values]) await expectTaken(context, { ...pickupBody(context), ...Object.fromEntries(names.map((name) => [name, null])) })
    return `${lists.length + values.length} members`
  }),
  must("create-members", "takes a request with contacts, a bill-to address, hazardous freight and the optional members", async (context) => {
    await expectTaken(context, fullPickup(context))
    return "taken"
  }),
  must("create-origin", "refuses a request without an origin", (context) => refusing(context, [["an empty pickupAddress", { pickupAddress: [] }], ["pickupAddress null", { pickupAddress: null }]])),
  must("create-function", "refuses a requestFunction other than NewPickup and ModifyExisting", (context) => refusing(context, [["requestFunction Cancel", { requestFunction: "Cancel" }]])),
  must("create-test-flag", "refuses an isTest other than True and False", (context) => refusing(context, [["isTest Maybe", { isTest: "Maybe" }]])),
  must("create-types", "refuses weights and counts that are no integers", (context) =>
    refusing(context, [["a weight as text", { grossPickupWeight: "heavy" }], ["half a handling unit", { handlingUnitCount: 1.5 }]])),
  must("create-times", "refuses times that are none", (context) => refusing(context, [["readyDate soon", { readyDate: "soon" }], ["closeTime late", { closeTime: "late" }]])),
  must("create-malformed", "refuses a body that is not JSON", (context) => expectEachRefused([["a cut-off body", () => context.call("c", "POST", "/v1/pickups/", { text: "{\"isTest\": " })]])),
  should("create-foreign-account", "refuses a request on another customer's account", {
    source: "practice: an account gives access to the pickup",
    needs: ["customer", "other"]
  }, async (context) => {
    const body = pickupBody(context)
    const [origin] = body.pickupAddress
    const exchange = await ordering(context, { ...body, pickupAddress: [{ ...origin, orgAccountNumber: context.fixtures.clients!.other!.accounts[0] }] })()
    return String(expectStatus(exchange, 400, 401, 403, 422).status)
  })
])

const changing = (context: RuleContext, number: string, body: PickupBody | object, as: CallerName = "customer") => context.call("c", "PUT", pickupPath(number), { as, body })

const updateRules = rulesOf("c", "Area C, Operations: Update pickup request", needs, [
  must("update", "updates a pickup request, keeps its number, and shows the change", onPickup(async ({ number, pro }, context) => {
    const changed = pickupBody(context, { pro, number })
    const [[answer], answered] = await jsonAnswer(changing(context, number, { ...changed, shipmentDetails: [{ ...changed.shipmentDetails[0], grossShipmentWeight: 1999 }] }), PickupAnswers, 200)
    expectEqual(answer.carrierPickupNumber, number, "carrierPickupNumber", answered)
    const [now, exchange] = await visible(context, { lookupValue: number })
    expectEqual(now.shipmentArray[0]?.weight, 1999, "The weight after the update", exchange)
    return number
  })),
  must("update-omitted", "takes an update without handlingUnitType in its shipment details", { source: "Area C: the update body omits handlingUnitType" }, onPickup(async ({ number, pro }, context) => {
    const body = pickupBody(context, { pro, number })
    const { handlingUnitType: _, ...detail } = body.shipmentDetails[0]!
    return String(expectStatus(await changing(context, number, { ...body, shipmentDetails: [detail] }), 200).status)
  })),
  must("update-unknown", "refuses to update an unknown pickup", async (context) =>
    String(expectStatus(await changing(context, unknownNumber, pickupBody(context, { number: unknownNumber })), 400, 404).status)),
  must("update-invalid", "refuses an incomplete update", onPickup(({ number, pro }, context) => {
    const { pickupAddress: _, ...rest } = pickupBody(context, { pro, number })
    return expectEachRefused([["no pickupAddress", () => changing(context, number, rest)]])
  })),
  should("update-function", "refuses an update with requestFunction NewPickup, or with another number than its address", {
    source: "published requirements of area C: ModifyExisting goes with carrierPickupNumber"
  }, onPickup(({ number, pro }, context) => {
    const body = pickupBody(context, { pro, number })
    return expectEachRefused([["NewPickup", () => changing(context, number, { ...body, requestFunction: "NewPickup" })], ["another number", () => changing(context, number, { ...body, carrierPickupNumber: unknownNumber })]])
  }))
])

const visibilityRules = rulesOf("c", "Area C, Operations: Pickup visibility", needs, [
  must("lookup", "shows a pickup by its confirmation id", onPickup(async ({ number }, context) => {
    const [pickup, exchange] = await visible(context, { lookupValue: number })
    expectEqual(digitsOf(pickup.pickupConfirmationId), digitsOf(number), "pickupConfirmationId", exchange)
    return pickup.status
  })),
  must("lookup-pro", "shows a pickup by a PRO of its shipments", onPickup(async ({ number, pro }, context) => {
    const [pickup, exchange] = await visible(context, { lookupType: "PRO", lookupValue: pro })
    expectEqual(digitsOf(pickup.pickupConfirmationId), digitsOf(number), "pickupConfirmationId", exchange)
    return pro
  })),
  must("lookup-integers", "shows pickupConfirmationId, code, subCode, proNumber and destinationPostalCode as integers, or null", {
    source: "Area C: pickup visibility response"
  }, onPickup(async ({ number }, context) => {
    const [{ informationCode: { code, subCode }, pickupConfirmationId, shipmentArray }, exchange] = await visible(context, { lookupValue: number })
    const shown = { pickupConfirmationId, code, subCode, ...Object.fromEntries(shipmentArray.slice(0, 1).flatMap(({ destinationPostalCode, proNumber }) => [["proNumber", proNumber], ["destinationPostalCode", destinationPostalCode]])) }
    const wrong = Object.entries(shown).find(([name, value]) => !Number.isSafeInteger(value) && (value !== null || name === "pickupConfirmationId"))
    if (wrong !== undefined) throw new Violation(`${wrong[0]} is ${JSON.stringify(wrong[1])}; an integer is expected.`, exchange)
    return String(pickupConfirmationId)
  })),
  must("lookup-shipments", "shows the shipments of a pickup, with PRO, country, units and weight", onPickup(async ({ number, pro }, context) => {
    const [{ shipmentArray: [shipment] }, exchange] = await visible(context, { lookupValue: number })
    expectEqual([String(shipment?.proNumber), shipment?.destinationCountry, shipment?.handlingUnitQuantity, shipment?.weight], [pro, "CAN", 2, 1250], "proNumber, destinationCountry, handlingUnitQuantity and weight", exchange)
    return pro
  })),
  must("lookup-every-shipment", "shows every shipment of a pickup, each once, with its references", async (context) => {
    const one = pickupBody(context)
    const [first, second] = [one, pickupBody(context)].map(({ shipmentDetails: [detail] }) => detail!) as [PickupBody["shipmentDetails"][0], PickupBody["shipmentDetails"][0]]
    const { number } = await orderPickup(context, { ...one, shipmentDetails: [first, second], destinationAddress: [one.destinationAddress[0]!, one.destinationAddress[0]!] })
    const [{ shipmentArray }, exchange] = await visible(context, { lookupValue: number })
    expectEqual(shipmentArray.map(({ proNumber }) => String(proNumber)).toSorted(), [first.proNumber, second.proNumber].toSorted(), "proNumber of the shipments", exchange)
    const lost = shipmentArray.find(({ referenceNumbers }) => referenceNumbers?.some(({ referenceValue }) => referenceValue === first.referenceNumbers[0]!.referenceNumber) !== true)
    if (lost !== undefined) throw new Violation(`The shipment ${lost.proNumber} is shown without its reference ${first.referenceNumbers[0]!.referenceNumber}.`, exchange)
    return `${shipmentArray.length} shipments`
  }),
  must("lookup-eta", "gives stopEta without a zone designator, and the zone in stopEtaTimeZone", onPickup(async ({ number }, context) => {
    const [{ stopEta, stopEtaTimeZone }, exchange] = await visible(context, { lookupValue: number })
    if (stopEta !== null && !/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/u.test(stopEta)) throw new Violation(`stopEta is ${stopEta}; a date-time without a zone is expected.`, exchange)
    if (stopEta !== null && (stopEtaTimeZone ?? "") === "") throw new Violation(`stopEta is ${stopEta}, and stopEtaTimeZone is missing.`, exchange)
    return `${stopEta} ${stopEtaTimeZone}`
  })),
  must("lookup-required", "refuses a lookup without one of its four parameters", (context) => {
    const query: Readonly<Record<string, string>> = { lookupValue: unknownNumber, lookupType: "PRO", requestType: "PickupStatus", isTest: "true" }
    return expectEachRefused(Object.keys(query).map((name) => [`no ${name}`, () => context.call("c", "GET", "/v1/pickups/", { query: Object.fromEntries(Object.entries(query).filter(([each]) => each !== name)) })]))
  }),
  must("lookup-type", "refuses a lookupType other than PickupConfirmationID and PRO", (context) =>
    expectEachRefused([["lookupType BOL", () => lookup(context, { lookupValue: unknownNumber, lookupType: "BOL" })]])),
  must("lookup-test-flag", "refuses an isTest other than true and false", (context) => expectEachRefused([["isTest maybe", () => lookup(context, { lookupValue: unknownNumber, isTest: "maybe" })]])),
  should("lookup-unknown", "answers 404 for an unknown pickup", { source: "published definition of area C: 404" }, async (context) => {
    for (const lookupType of ["PickupConfirmationID", "PRO"]) expectStatus(await lookup(context, { lookupValue: unknownNumber, lookupType }), 404)
    return "404"
  }),
  should("lookup-real", "does not show a test pickup as a real one", { source: "Area C: isTest is a required parameter" }, onPickup(async ({ number }, context) =>
    String(expectStatus(await lookup(context, { lookupValue: number, isTest: "false" }), 404).status))),
  should("lookup-safe", "cancels nothing by a lookup, whatever its requestType is", { source: "HTTP: GET is safe" }, onPickup(async ({ number }, context) => {
    await lookup(context, { lookupValue: number, requestType: "Cancel" })
    const [pickup, exchange] = await visible(context, { lookupValue: number })
    if (/cancel/iu.test(pickup.status)) throw new Violation("A lookup with requestType Cancel cancelled the pickup.", exchange)
    return pickup.status
  }))
])

const cancelRules = rulesOf("c", "published definition of area C: DELETE cancels a pickup", needs, [
  should("cancel", "cancels a pickup, and shows it as cancelled", onPickup(async ({ number }, context) => {
    expectStatus(await context.call("c", "DELETE", pickupPath(number)), 200)
    const [pickup, exchange] = await visible(context, { lookupValue: number })
    if (!/cancel/iu.test(pickup.status)) throw new Violation(`The status of the cancelled pickup is ${pickup.status}.`, exchange)
    return pickup.status
  })),
  should("cancel-unknown", "answers 404 when an unknown pickup is cancelled", async (context) => String(expectStatus(await context.call("c", "DELETE", pickupPath(unknownNumber)), 404).status))
])

const accessRules = rulesOf("c", "Authentication; errors of area C: published definition", needs, [
  should("error-body", "explains a refused request by a message", async (context) => {
    const refused: ReadonlyArray<Exchange> = [await ordering(context, {})(), await lookup(context, { lookupValue: "1", lookupType: "BOL" })]
    for (const exchange of refused) read(Message, expectStatus(exchange, 400, 422).json, `The error body of ${callText(exchange)}`, exchange)
    return "messages"
  }),
  should("unauthenticated", "refuses calls about pickups without valid credentials with 401", { needs: [] }, (context) =>
    expectUnauthorized(
      (as) => context.call("c", "POST", "/v1/pickups/", { as, body: pickupBody(context) }),
      (as) => lookup(context, { lookupValue: unknownNumber }, as),
      (as) => changing(context, unknownNumber, pickupBody(context, { number: unknownNumber }), as),
      (as) => context.call("c", "DELETE", pickupPath(unknownNumber), { as })
    )),
  must("foreign", "shows, changes and cancels no pickup of another customer", {
    source: "Area C: a shipper updates and looks up its own pickup requests",
    needs: ["customer", "other"]
  }, onPickup(async ({ number, pro }, context) => {
    expectHidden(await lookup(context, { lookupValue: number }, "other"))
    expectHidden(await lookup(context, { lookupValue: pro, lookupType: "PRO" }, "other"))
    const { pickupAddress: [origin], ...body } = pickupBody(context, { pro, number })
    expectHidden(await changing(context, number, { ...body, pickupAddress: [{ ...origin, orgAccountNumber: null }] }, "other"))
    expectHidden(await context.call("c", "DELETE", pickupPath(number), { as: "other" }))
    const [pickup, exchange] = await visible(context, { lookupValue: number })
    if (/cancel/iu.test(pickup.status)) throw new Violation("Another customer cancelled the pickup.", exchange)
    return "hidden"
  }))
])

export const pickupRules = [...createRules, ...updateRules, ...visibilityRules, ...cancelRules, ...accessRules]
