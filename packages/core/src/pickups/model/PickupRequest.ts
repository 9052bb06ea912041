/**
 * A shipper's request (area C, pickup request body). Unknown fields are dropped. SPEC-GAP-C4
 * The interface does not say what is required inside lists, so members that may be null may also be left out. SPEC-GAP-C3
 */
import { Schema, SchemaGetter } from "effect"
import { mayLack } from "../../shared/MayLack.ts"
import { listUpTo, textUpTo } from "../../shared/UpTo.ts"
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
  orgAccountNumber: mayLack(account),
  orgAddressName: given("orgAddressName"),
  orgAddressLine1: given("orgAddressLine1"),
  orgAddressLine2: mayLack(line),
  orgCity: given("orgCity"),
  orgContactName: mayLack(line),
  orgCountry: given("orgCountry"),
  orgPhoneNumber: mayLack(line),
  orgState: given("orgState"),
  orgStoreNumber: mayLack(line),
  orgZip: zip.check(Schema.isPattern(/\S/u, { message: "orgZip must not be empty." }))
}).annotate({ identifier: "PickupOriginAddress" })

const DestinationAddress = Schema.Struct({
  cneeAddressName: mayLack(line),
  cneeAddressLine1: mayLack(line),
  cneeAddressLine2: mayLack(line),
  cneeCity: mayLack(line),
  cneeContactName: mayLack(line),
  cneeCountry: mayLack(line),
  cneePhoneNumber: mayLack(line),
  cneeState: mayLack(line),
  cneeStoreNumber: mayLack(line),
  cneeZip: mayLack(zip)
}).annotate({ identifier: "PickupDestinationAddress" })

const BillToAddress = Schema.Struct({
  btAccountNumber: mayLack(account),
  btAddressName: mayLack(line),
  btAddressLine1: mayLack(line),
  btAddressLine2: mayLack(line),
  btCity: mayLack(line),
  btContactName: mayLack(line),
  btCountry: mayLack(line),
  btPhoneNumber: mayLack(line),
  btState: mayLack(line),
  btStoreNumber: mayLack(line),
  btZip: mayLack(zip)
}).annotate({ identifier: "PickupBillToAddress" })

const HandlingUnitDetail = Schema.Struct({
  height: mayLack(measure),
  length: mayLack(measure),
  unitCount: mayLack(measure),
  totalUnitCount: mayLack(measure),
  totalLinearFeetofShipment: mayLack(measure),
  unitType: mayLack(line),
  width: mayLack(measure),
  weight: mayLack(measure),
  totalWeight: mayLack(measure)
}).annotate({ identifier: "PickupHandlingUnitDetail" })
/** Number and measures of handling units of one shipment (area C). The interface names no unit of length. */
export type HandlingUnitDetail = typeof HandlingUnitDetail.Type

const ReferenceNumber = Schema.Struct({
  refPieceCount: mayLack(count),
  referenceNumber: mayLack(KeptText),
  referenceType: mayLack(line)
})

const ShipmentService = Schema.Struct({ serviceCode: mayLack(line), serviceDescription: mayLack(line) })

const ShipmentDetail = Schema.Struct({
  shipperRef: mayLack(KeptText),
  proNumber: mayLack(KeptText),
  crossRefPro: mayLack(KeptText),
  deliveryBeginDate: mayLack(DateText),
  deliveryDateType: mayLack(anyCase("deliveryDateType", deliveryDateTypes)),
  deliveryEndDate: mayLack(DateText),
  descriptionDetails: mayLack(listUpTo(line, 1000)),
  additionalShipperInfo: mayLack(prose),
  description: mayLack(prose),
  freightClass: mayLack(line),
  hazmatCheck: Schema.Boolean,
  individualPieceType: mayLack(line),
  individualPieces: mayLack(count),
  nmfc: mayLack(line),
  nmfcSub: mayLack(line),
  weight: mayLack(pounds),
  grossShipmentWeight: mayLack(pounds),
  netShipmentWeight: mayLack(pounds),
  handlingUnitCount: mayLack(integer(0, 500)),
  handlingUnitDetails: mayLack(listUpTo(HandlingUnitDetail, 500)),
  handlingUnitType: mayLack(line),
  hazmatContactName: mayLack(line),
  hazmatContactPhoneNumber: mayLack(line),
  hazmatContractNumber: mayLack(line),
  referenceNumbers: mayLack(listUpTo(ReferenceNumber, 500)),
  shipmentServices: mayLack(listUpTo(ShipmentService, 500)),
  specialInstructionsDelivery: mayLack(prose),
  specialInstructionsPickup: mayLack(prose)
}).annotate({ identifier: "PickupShipmentDetail" })
/** One shipment of a pickup request (area C). */
export type ShipmentDetail = typeof ShipmentDetail.Type

const EmergencyContact = Schema.Struct({ emergName: mayLack(line), emergPhone: mayLack(line), emergEmail: mayLack(line) })

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
  warehouseName: mayLack(line),
  readyDate: orNull(DateText),
  readyTime: orNull(DateText),
  closeTime: orNull(DateText),
  openDate: mayLack(DateText),
  openTime: mayLack(DateText),
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
