/**
 * A shipper's request (area C, pickup request body). Unknown fields are dropped. SPEC-GAP-C4
 * The interface does not say what is required inside lists, so members that may be null may also be left out. SPEC-GAP-C3
 */
import { Schema, SchemaGetter } from "effect"
import { listUpTo, nullish, textUpTo } from "../../shared/Members.ts"
import { DateText } from "./DateText.ts"
import { anyCase, KeptText, nameUpTo } from "./KeptText.ts"

const orNull = <S extends Schema.Top>(schema: S) => Schema.NullOr(schema)

const line = textUpTo(500)
const prose = textUpTo(4000)
const zip = nameUpTo(10)
const account = nameUpTo(100)

const given = (what: string) => line.check(Schema.isPattern(/\S/u, { message: `${what} must not be empty.` }))

const integer = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }, { message: `Use an integer from ${minimum} to ${maximum}.` }))

/** `True` and `False` in any case; JSON booleans are accepted too. SPEC-GAP-C2 */
export const TestFlag = Schema.Union([Schema.Boolean, anyCase("isTest", ["True", "False"])])
  .annotate({ identifier: "TestFlag", message: "isTest is \"True\" or \"False\"." })
  .pipe(Schema.decodeTo(Schema.Boolean, {
    decode: SchemaGetter.transform((flag) => typeof flag === "boolean" ? flag : flag.toLowerCase() === "true"),
    encode: SchemaGetter.transform((flag: boolean): string | boolean => flag ? "True" : "False")
  }))

/** The interface has no list of units. Units of the other areas are accepted and kept as written. SPEC-GAP-C7 */
export const weightUnits = ["LB", "LBS", "Pounds", "KG", "KGS", "Kilograms"] as const

/** Values of `deliveryDateType`, read in any case. SPEC-GAP-C7 */
export const deliveryDateTypes = ["Deliver On or After Date", "Deliver By Date", "Delivery Window", "Required Delivery Date"] as const

const pounds = integer(0, 999_999)
const count = integer(0, 1_000_000)
const measure = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }, { message: "Use a number from 0 to 1000000." }))

/** The origin of a pickup (area C, `org…` members). */
export const PickupAddress = Schema.Struct({
  orgAccountNumber: nullish(account),
  orgAddressName: given("orgAddressName"),
  orgAddressLine1: given("orgAddressLine1"),
  orgAddressLine2: nullish(line),
  orgCity: given("orgCity"),
  orgContactName: nullish(line),
  orgCountry: given("orgCountry"),
  orgPhoneNumber: nullish(line),
  orgState: given("orgState"),
  orgStoreNumber: nullish(line),
  orgZip: zip.check(Schema.isPattern(/\S/u, { message: "orgZip must not be empty." }))
}).annotate({ identifier: "PickupOriginAddress" })

const DestinationAddress = Schema.Struct({
  cneeAddressName: nullish(line),
  cneeAddressLine1: nullish(line),
  cneeAddressLine2: nullish(line),
  cneeCity: nullish(line),
  cneeContactName: nullish(line),
  cneeCountry: nullish(line),
  cneePhoneNumber: nullish(line),
  cneeState: nullish(line),
  cneeStoreNumber: nullish(line),
  cneeZip: nullish(zip)
}).annotate({ identifier: "PickupDestinationAddress" })

const BillToAddress = Schema.Struct({
  btAccountNumber: nullish(account),
  btAddressName: nullish(line),
  btAddressLine1: nullish(line),
  btAddressLine2: nullish(line),
  btCity: nullish(line),
  btContactName: nullish(line),
  btCountry: nullish(line),
  btPhoneNumber: nullish(line),
  btState: nullish(line),
  btStoreNumber: nullish(line),
  btZip: nullish(zip)
}).annotate({ identifier: "PickupBillToAddress" })

const HandlingUnitDetail = Schema.Struct({
  height: nullish(measure),
  length: nullish(measure),
  unitCount: nullish(measure),
  totalUnitCount: nullish(measure),
  totalLinearFeetofShipment: nullish(measure),
  unitType: nullish(line),
  width: nullish(measure),
  weight: nullish(measure),
  totalWeight: nullish(measure)
}).annotate({ identifier: "PickupHandlingUnitDetail" })
/** Number and measures of handling units of one shipment (area C). The interface names no unit of length. */
export type HandlingUnitDetail = typeof HandlingUnitDetail.Type

const ReferenceNumber = Schema.Struct({
  refPieceCount: nullish(count),
  referenceNumber: nullish(KeptText),
  referenceType: nullish(line)
})

const ShipmentService = Schema.Struct({ serviceCode: nullish(line), serviceDescription: nullish(line) })

const ShipmentDetail = Schema.Struct({
  shipperRef: nullish(KeptText),
  proNumber: nullish(KeptText),
  crossRefPro: nullish(KeptText),
  deliveryBeginDate: nullish(DateText),
  deliveryDateType: nullish(anyCase("deliveryDateType", deliveryDateTypes)),
  deliveryEndDate: nullish(DateText),
  descriptionDetails: nullish(listUpTo(line, 1000)),
  additionalShipperInfo: nullish(prose),
  description: nullish(prose),
  freightClass: nullish(line),
  hazmatCheck: Schema.Boolean,
  individualPieceType: nullish(line),
  individualPieces: nullish(count),
  nmfc: nullish(line),
  nmfcSub: nullish(line),
  weight: nullish(pounds),
  grossShipmentWeight: nullish(pounds),
  netShipmentWeight: nullish(pounds),
  handlingUnitCount: nullish(integer(0, 500)),
  handlingUnitDetails: nullish(listUpTo(HandlingUnitDetail, 500)),
  handlingUnitType: nullish(line),
  hazmatContactName: nullish(line),
  hazmatContactPhoneNumber: nullish(line),
  hazmatContractNumber: nullish(line),
  referenceNumbers: nullish(listUpTo(ReferenceNumber, 500)),
  shipmentServices: nullish(listUpTo(ShipmentService, 500)),
  specialInstructionsDelivery: nullish(prose),
  specialInstructionsPickup: nullish(prose)
}).annotate({ identifier: "PickupShipmentDetail" })
/** One shipment of a pickup request (area C). */
export type ShipmentDetail = typeof ShipmentDetail.Type

const EmergencyContact = Schema.Struct({ emergName: nullish(line), emergPhone: nullish(line), emergEmail: nullish(line) })

/** All members are required; those that may be null must still be present. */
export const PickupRequest = Schema.Struct({
  isTest: TestFlag,
  pickupAddress: listUpTo(PickupAddress, 100).check(Schema.isMinLength(1, { message: "Give at least one pickup address." })),
  customer: orNull(line),
  emergencyContact: orNull(listUpTo(EmergencyContact, 100)),
  grossPickupWeight: pounds,
  weightUofM: anyCase("weightUofM", weightUnits),
  handlingUnitCount: integer(0, 500),
  cubicFeet: orNull(count),
  linearFeet: orNull(count),
  trailerNumber: orNull(line),
  loadedBy: orNull(anyCase("loadedBy", ["shipper", "driver"])),
  sealNumber: orNull(line),
  warehouseName: nullish(line),
  readyDate: orNull(DateText),
  readyTime: orNull(DateText),
  closeTime: orNull(DateText),
  openDate: nullish(DateText),
  openTime: nullish(DateText),
  pickupLocationTimeZone: orNull(line),
  dockDoorNumber: orNull(line),
  dockContactEmail: orNull(line),
  dockContactName: orNull(line),
  dockContactPhone: orNull(line),
  confirmationEmail: orNull(line),
  shipmentDetails: orNull(listUpTo(ShipmentDetail, 500)),
  destinationAddress: orNull(listUpTo(DestinationAddress, 500)),
  billToAddress: orNull(listUpTo(BillToAddress, 100)),
  requestFunction: Schema.Literals(["NewPickup", "ModifyExisting"]).annotate({ message: "requestFunction is NewPickup or ModifyExisting." }),
  carrierPickupNumber: orNull(KeptText)
}).annotate({ identifier: "PickupRequest" })
export type PickupRequest = typeof PickupRequest.Type

/** A request as carriers read it, with `isTest` in the spelling of the interface. */
export const ShownPickupRequest = Schema.Struct({ ...PickupRequest.fields, isTest: Schema.Literals(["True", "False"]) }).annotate({
  identifier: "ShownPickupRequest"
})
export type ShownPickupRequest = typeof ShownPickupRequest.Type

/** A stored request for carriers. SPEC-GAP-C2 */
export const shownRequest = (request: PickupRequest): ShownPickupRequest => ({ ...request, isTest: request.isTest ? "True" : "False" })
