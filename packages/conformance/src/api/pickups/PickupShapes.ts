/** Shapes, bodies and calls of area C. */
import { Schema } from "effect"
import { randomInt } from "node:crypto"
import type { Exchange } from "../ApiCaller.ts"
import { jsonAnswer, optional, orNull } from "../Expectations.ts"
import { making, type RuleContext, Violation } from "../Rule.ts"

const text = Schema.String
/** A rule of its own wants integers: the published definition has texts. */
const number = Schema.Union([text, Schema.Int])

/** A number as an integer shows it. */
export const digitsOf = (value: string | number | null | undefined): string => String(value ?? "").replaceAll(/[\s-]+/gu, "").replace(/^0+(?=\d)/u, "")

const PickupAnswer = Schema.Struct({
  shipperRef: orNull(Schema.Array(orNull(text))),
  carrierPickupNumber: orNull(text),
  pickupStatus: orNull(text),
  trailerNumber: orNull(text),
  carrierName: orNull(text),
  routing: orNull(text),
  scac: orNull(text),
  pickupMessage: orNull(Schema.Array(orNull(text)))
})
export const PickupAnswers = Schema.NonEmptyArray(PickupAnswer)

export const PickupVisibility = Schema.Struct({
  pickupConfirmationId: number,
  status: text,
  informationCode: Schema.Struct({ code: orNull(number), codeDescription: orNull(text), subCode: orNull(number), subCodeDescription: orNull(text) }),
  stopEta: orNull(text),
  stopEtaTimeZone: orNull(text),
  equipmentInformation: orNull(Schema.Struct({
    driverName: optional(orNull(text)),
    trailerNumber: optional(orNull(text)),
    gpsCoordinates: optional(orNull(Schema.Struct({ latitude: orNull(Schema.Finite), longitude: orNull(Schema.Finite) }))),
    stopsAway: optional(orNull(Schema.Int))
  })),
  shipmentArray: Schema.Array(Schema.Struct({
    proNumber: orNull(number),
    destinationPostalCode: orNull(number),
    destinationCountry: orNull(text),
    handlingUnitQuantity: orNull(Schema.Int),
    weight: orNull(Schema.Finite),
    referenceNumbers: orNull(Schema.Array(Schema.Struct({ referenceType: orNull(text), referenceValue: orNull(text) })))
  }))
})

const dayMillis = 86_400_000

export type PickupBody = ReturnType<typeof pickupBody>

/** A valid request for a test pickup in a week, with the members that every request must have. Nobody is sent. */
export const pickupBody = ({ fixtures }: RuleContext, changes: { readonly pro?: string; readonly number?: string; readonly weight?: number } = {}) => {
  const day = new Date(Date.now() + 7 * dayMillis).toISOString().slice(0, 10)
  const { pro = `7${randomInt(1e11).toString().padStart(11, "0")}`, number: carrierPickupNumber = null, weight = 1250 } = changes
  return {
    isTest: "True",
    pickupAddress: [{
      orgAccountNumber: fixtures.clients?.customer?.accounts[0] ?? null,
      orgAddressName: "Closets Inc.",
      orgAddressLine1: "12 S. Closets Place",
      orgAddressLine2: null,
      orgCity: "Boston",
      orgContactName: "Dana",
      orgCountry: "USA",
      orgPhoneNumber: "6175550100",
      orgState: "MA",
      orgStoreNumber: null,
      orgZip: "02134"
    }],
    customer: "Closets",
    emergencyContact: null,
    grossPickupWeight: weight,
    weightUofM: "LB",
    handlingUnitCount: 2,
    cubicFeet: 107,
    linearFeet: null,
    trailerNumber: null,
    loadedBy: "driver",
    sealNumber: null,
    readyDate: `${day}T00:00:00.000`,
    readyTime: `${day}T08:00:00.000`,
    closeTime: `${day}T17:00:00.000`,
    pickupLocationTimeZone: "UTC-5",
    dockDoorNumber: "3",
    dockContactEmail: null,
    dockContactName: "Dana",
    dockContactPhone: null,
    confirmationEmail: null,
    shipmentDetails: [shipmentDetail(pro)],
    destinationAddress: [{
      cneeAddressName: "Mirrors Ltd.",
      cneeAddressLine1: "1 Glass Road",
      cneeAddressLine2: null,
      cneeCity: "Toronto",
      cneeContactName: null,
      cneeCountry: "CAN",
      cneePhoneNumber: null,
      cneeState: "ON",
      cneeStoreNumber: null,
      cneeZip: "M5V 2T6"
    }],
    billToAddress: null,
    requestFunction: carrierPickupNumber === null ? "NewPickup" : "ModifyExisting",
    carrierPickupNumber
  }
}

const shipmentDetail = (proNumber: string) => ({
  shipperRef: "LOAD-7",
  proNumber,
  crossRefPro: null,
  deliveryBeginDate: null,
  deliveryDateType: null,
  deliveryEndDate: null,
  descriptionDetails: ["Closet doors"],
  additionalShipperInfo: null,
  description: "Closet doors",
  freightClass: "77.5",
  hazmatCheck: false,
  individualPieceType: "CTN",
  individualPieces: 40,
  nmfc: "39240",
  nmfcSub: "02",
  weight: 1200,
  grossShipmentWeight: 1250,
  netShipmentWeight: 1200,
  handlingUnitCount: 2,
  handlingUnitDetails: [{ height: 48, length: 48, unitCount: 2, totalUnitCount: 2, totalLinearFeetofShipment: 4, unitType: "SKD", width: 40, weight: 625, totalWeight: 1250 }],
  handlingUnitType: "SKD",
  hazmatContactName: null,
  hazmatContactPhoneNumber: null,
  hazmatContractNumber: null,
  referenceNumbers: [{ refPieceCount: 40, referenceNumber: "0045001", referenceType: "PO" }],
  shipmentServices: [{ serviceCode: "LGATE", serviceDescription: null }],
  specialInstructionsDelivery: null,
  specialInstructionsPickup: "Ring at dock 3."
})

/** A valid request with the members that others leave out, or have as null. */
export const fullPickup = (context: RuleContext) => {
  const body = pickupBody(context)
  const [day] = body.readyDate.split("T")
  return {
    ...body,
    emergencyContact: [{ emergName: "Dana", emergPhone: "6175550100", emergEmail: "dana@closets.example" }],
    linearFeet: 4,
    trailerNumber: "T-7",
    sealNumber: "SEAL-7",
    warehouseName: "North",
    openDate: `${day}T00:00:00.000`,
    openTime: `${day}T07:00:00.000`,
    dockContactEmail: "dock@closets.example",
    dockContactPhone: "6175550101",
    shipmentDetails: body.shipmentDetails.map((detail) => ({ ...detail, hazmatCheck: true, hazmatContactName: "Dana", hazmatContactPhoneNumber: "6175550102", hazmatContractNumber: "HZ-7" })),
    billToAddress: [{
      btAccountNumber: context.fixtures.clients?.customer?.accounts[0] ?? null,
      btAddressName: "Debtor Corp.",
      btAddressLine1: "7 Main Street",
      btAddressLine2: "Floor 2",
      btCity: "Dallas",
      btContactName: "Lee",
      btCountry: "USA",
      btPhoneNumber: "2145550100",
      btState: "TX",
      btStoreNumber: "1",
      btZip: "75201"
    }]
  }
}

export const pickupPath = (number: string): string => `/v1/pickups/${encodeURIComponent(number)}`

interface OrderedPickup {
  readonly body: PickupBody
  readonly exchange: Exchange
  readonly number: string
  readonly pro: string
}

/** Orders a test pickup, which is cancelled at the end. */
export const orderPickup = async (context: RuleContext, body: PickupBody = pickupBody(context)): Promise<OrderedPickup> => {
  const [[{ carrierPickupNumber: number }], exchange] = await jsonAnswer(context.call("c", "POST", "/v1/pickups/", { body }), PickupAnswers, 200, 201)
  if (number === null || number === "") throw new Violation("The pickup was not accepted, so that it has no number; an accepted test pickup is needed for this check.", exchange)
  context.afterwards(() => context.call("c", "DELETE", pickupPath(number)))
  return { body, exchange, number, pro: body.shipmentDetails[0]!.proNumber }
}

export const onPickup = making((context) => orderPickup(context))

export const lookup = (context: RuleContext, more: Readonly<Record<string, string>>, as: "customer" | "other" | "nobody" | "invalid" = "customer") =>
  context.call("c", "GET", "/v1/pickups/", { as, query: { lookupType: "PickupConfirmationID", requestType: "PickupStatus", isTest: "true", ...more } })
