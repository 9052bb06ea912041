/** A shipper's pickup request (area C, pickup request body). */
import type { OpenList, OrNull, Unknown } from "../shared/OpenList.ts"

/** Where the freight is picked up (area C). */
export interface PickupAddress extends
  Unknown<{
    /** One of your accounts; its holders see the pickup. */
    readonly orgAccountNumber: string
    readonly orgAddressLine2: string
    readonly orgContactName: string
    readonly orgPhoneNumber: string
    readonly orgStoreNumber: string
  }>
{
  readonly orgAddressName: string
  readonly orgAddressLine1: string
  readonly orgCity: string
  readonly orgState: string
  readonly orgZip: string
  readonly orgCountry: string
}

/** `cneeZip` is required. Give one address for all shipments, or one per shipment. */
export type PickupDestination = Unknown<{
  readonly cneeAddressName: string
  readonly cneeAddressLine1: string
  readonly cneeAddressLine2: string
  readonly cneeCity: string
  readonly cneeContactName: string
  readonly cneeCountry: string
  readonly cneePhoneNumber: string
  readonly cneeState: string
  readonly cneeStoreNumber: string
  readonly cneeZip: string
}>

/** Who pays for the pickup (area C). */
export type PickupBillTo = Unknown<{
  /** One of your accounts; its holders see the pickup. */
  readonly btAccountNumber: string
  readonly btAddressName: string
  readonly btAddressLine1: string
  readonly btAddressLine2: string
  readonly btCity: string
  readonly btContactName: string
  readonly btCountry: string
  readonly btPhoneNumber: string
  readonly btState: string
  readonly btStoreNumber: string
  readonly btZip: string
}>

/** Handling units of one kind. The interface names no unit for their sizes; weights are in `weightUofM` of the request. */
export type PickupHandlingUnit = Unknown<{
  readonly height: number
  readonly length: number
  readonly width: number
  readonly unitCount: number
  readonly totalUnitCount: number
  readonly totalLinearFeetofShipment: number
  readonly unitType: string
  readonly weight: number
  readonly totalWeight: number
}>

/** What the delivery date of a shipment means: a type of the published list. */
export type DeliveryDateType = "Deliver On or After Date" | "Deliver By Date" | "Delivery Window" | "Required Delivery Date"

/** A shipment of a pickup request (area C). */
export interface PickupShipment extends
  Unknown<{
    readonly shipperRef: string
    readonly proNumber: string
    readonly crossRefPro: string
    readonly deliveryBeginDate: string
    readonly deliveryDateType: OpenList<DeliveryDateType>
    /** Only with `Delivery Window`. */
    readonly deliveryEndDate: string
    readonly descriptionDetails: ReadonlyArray<string>
    readonly additionalShipperInfo: string
    readonly description: string
    readonly freightClass: string
    readonly individualPieceType: string
    readonly individualPieces: number
    readonly nmfc: string
    readonly nmfcSub: string
    readonly weight: number
    readonly grossShipmentWeight: number
    readonly netShipmentWeight: number
    readonly handlingUnitCount: number
    readonly handlingUnitDetails: ReadonlyArray<PickupHandlingUnit>
    readonly handlingUnitType: string
    readonly hazmatContactName: string
    readonly hazmatContactPhoneNumber: string
    readonly hazmatContractNumber: string
    readonly referenceNumbers: ReadonlyArray<Unknown<{ refPieceCount: number; referenceNumber: string; referenceType: string }>>
    readonly shipmentServices: ReadonlyArray<Unknown<{ serviceCode: string; serviceDescription: string }>>
    readonly specialInstructionsDelivery: string
    readonly specialInstructionsPickup: string
  }>
{
  /** Hazardous freight needs a contact with a phone number. */
  readonly hazmatCheck: boolean
}

/** Unit of every weight of a request: pounds or kilograms. */
export type WeightUnit = "LB" | "LBS" | "Pounds" | "KG" | "KGS" | "Kilograms"

interface Asked {
  readonly pickupAddress: ReadonlyArray<PickupAddress>
  /** 0 when every shipment has its own. */
  readonly grossPickupWeight: number
  readonly weightUofM: OpenList<WeightUnit>
  /** 0 when every shipment has its own. */
  readonly handlingUnitCount: number
}

interface MayBeNull {
  readonly customer: string
  readonly emergencyContact: ReadonlyArray<Unknown<{ emergName: string; emergPhone: string; emergEmail: string }>>
  /** This or `linearFeet` is required, unless every shipment has its own. */
  readonly cubicFeet: number
  readonly linearFeet: number
  readonly trailerNumber: string
  readonly loadedBy: OpenList<"shipper" | "driver">
  readonly sealNumber: string
  /** ISO 8601. Without an offset, local time of the location. */
  readonly readyDate: string
  readonly readyTime: string
  readonly closeTime: string
  /** `UTC-5`, `UTC+5:30`, or a name such as `America/Chicago`. */
  readonly pickupLocationTimeZone: string
  readonly dockDoorNumber: string
  readonly dockContactEmail: string
  readonly dockContactName: string
  readonly dockContactPhone: string
  readonly confirmationEmail: string
  readonly shipmentDetails: ReadonlyArray<PickupShipment>
  readonly destinationAddress: ReadonlyArray<PickupDestination>
  readonly billToAddress: ReadonlyArray<PickupBillTo>
}

type Nullish = Unknown<{
  readonly warehouseName: string
  readonly openDate: string
  readonly openTime: string
}>

/** A pickup order. The client sends `null` for absent members, as the interface requires. */
export interface PickupOrder extends Asked, Unknown<MayBeNull>, Nullish {
  /** A test gets the same response as an order, but no driver is sent. The text is the interface's, as stored requests have it. */
  readonly isTest: boolean | "True" | "False"
}

/** A stored request: numbers that are identifiers are text. */
export interface PickupRequest extends Asked, OrNull<MayBeNull>, Nullish {
  readonly isTest: "True" | "False"
  readonly requestFunction: "NewPickup" | "ModifyExisting"
  readonly carrierPickupNumber: string | null
}

const nothing: { readonly [Member in keyof MayBeNull]: null } = {
  customer: null,
  emergencyContact: null,
  cubicFeet: null,
  linearFeet: null,
  trailerNumber: null,
  loadedBy: null,
  sealNumber: null,
  readyDate: null,
  readyTime: null,
  closeTime: null,
  pickupLocationTimeZone: null,
  dockDoorNumber: null,
  dockContactEmail: null,
  dockContactName: null,
  dockContactPhone: null,
  confirmationEmail: null,
  shipmentDetails: null,
  destinationAddress: null,
  billToAddress: null
}

/** Passes values of other types to the server, which validates them: a caller without types may give the text "False". */
const testFlag = (isTest: unknown): unknown => typeof isTest === "boolean" ? (isTest ? "True" : "False") : isTest

/** The body as the interface spells it. With a number, it updates the pickup of that number. */
export const pickupBody = (order: PickupOrder, carrierPickupNumber: string | null) => ({
  ...nothing,
  // An undefined member would replace the null, and JSON would then drop the member.
  ...Object.fromEntries(Object.entries(order).filter(([, value]) => value !== undefined)),
  isTest: testFlag(order.isTest),
  requestFunction: carrierPickupNumber === null ? "NewPickup" : "ModifyExisting",
  carrierPickupNumber
})
