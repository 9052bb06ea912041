/** The public view of a pickup (area C, pickup visibility response). */
import { Schema } from "effect"
import { Count, LargeInteger } from "../../shared/Members.ts"
import { visibleInformationCode, InformationCode } from "./InformationCode.ts"
import { given, integerOf } from "./KeptText.ts"
import { zoneText } from "./LocationZone.ts"
import type { KeptPickup } from "./Pickup.ts"
import type { PickupReport } from "./PickupReport.ts"
import type { HandlingUnitDetail, PickupRequest, ShipmentDetail } from "./PickupRequest.ts"
import { clocksAt, shownText, readPickupWindow } from "./PickupWindow.ts"

const EquipmentInformation = Schema.Struct({
  driverName: Schema.NullOr(Schema.String),
  trailerNumber: Schema.NullOr(Schema.String),
  gpsCoordinates: Schema.NullOr(Schema.Struct({ latitude: Schema.NullOr(Schema.Finite), longitude: Schema.NullOr(Schema.Finite) })),
  /** 3, 2 or 1; `null` while more stops remain. */
  stopsAway: Schema.NullOr(Count)
}).annotate({ identifier: "PickupEquipmentInformation" })

const VisibleShipment = Schema.Struct({
  proNumber: Schema.NullOr(Schema.String),
  destinationPostalCode: Schema.NullOr(Schema.String),
  destinationCountry: Schema.NullOr(Schema.String),
  handlingUnitQuantity: Schema.NullOr(Count),
  weight: Schema.NullOr(Count),
  referenceNumbers: Schema.NullOr(Schema.Array(Schema.Struct({
    referenceType: Schema.NullOr(Schema.String),
    referenceValue: Schema.NullOr(Schema.String)
  })))
}).annotate({ identifier: "PickupShipment" })
type VisibleShipment = typeof VisibleShipment.Type

/** Numbers are text, as in the published file: a PRO or a postal code may begin with zero or have letters. SPEC-GAP-C6 */
export const PickupVisibility = Schema.Struct({
  pickupConfirmationId: Schema.String,
  status: Schema.String,
  informationCode: InformationCode,
  /** Local time in `stopEtaTimeZone`, without an offset. */
  stopEta: Schema.NullOr(Schema.String),
  stopEtaTimeZone: Schema.NullOr(Schema.String),
  equipmentInformation: Schema.NullOr(EquipmentInformation),
  shipmentArray: Schema.Array(VisibleShipment)
}).annotate({ identifier: "PickupVisibility" })
export type PickupVisibility = typeof PickupVisibility.Type

const IntegerOrNull = Schema.NullOr(LargeInteger)

/** The view with integers, as in the interface: a text without an integer is `null`. SPEC-GAP-C6 */
export const PickupVisibilityWithIntegers = Schema.Struct({
  ...PickupVisibility.fields,
  pickupConfirmationId: IntegerOrNull,
  informationCode: Schema.Struct({ ...InformationCode.fields, code: IntegerOrNull, subCode: IntegerOrNull }).annotate({ identifier: "PickupInformationCodeWithIntegers" }),
  shipmentArray: Schema.Array(
    Schema.Struct({ ...VisibleShipment.fields, proNumber: IntegerOrNull, destinationPostalCode: IntegerOrNull }).annotate({ identifier: "PickupShipmentWithIntegers" })
  )
}).annotate({ identifier: "PickupVisibilityWithIntegers" })

/** The visibility answer with numbers as integers, as the interface has them; `null` for one that is no integer. SPEC-GAP-C6 */
export const withIntegers = (pickup: PickupVisibility): typeof PickupVisibilityWithIntegers.Type => ({
  ...pickup,
  pickupConfirmationId: integerOf(pickup.pickupConfirmationId),
  informationCode: { ...pickup.informationCode, code: integerOf(pickup.informationCode.code), subCode: integerOf(pickup.informationCode.subCode) },
  shipmentArray: pickup.shipmentArray.map((each) => ({
    ...each,
    proNumber: integerOf(each.proNumber),
    destinationPostalCode: integerOf(each.destinationPostalCode)
  }))
})

/** The visibility answer of a pickup (area C), with numbers as text. */
export const visiblePickup = (number: string, pickup: KeptPickup): PickupVisibility => ({
  pickupConfirmationId: number,
  status: pickup.words,
  informationCode: visibleInformationCode(pickup.informationCode, pickup.words),
  ...(pickup.eta ?? windowStart(pickup.request)),
  equipmentInformation: pickup.equipment === null ? null : equipmentOf(pickup.equipment),
  shipmentArray: pickup.shipments === null ? requestedShipments(pickup.request) : pickup.shipments.map(reportedShipment)
})

/** The start of the pickup window, until the carrier reports an arrival time. SPEC-GAP-C15 */
const windowStart = (request: PickupRequest): { readonly stopEta: string | null; readonly stopEtaTimeZone: string | null } => {
  const reading = readPickupWindow(request)
  const window = reading._tag === "Window" ? reading.window : undefined
  const offsetAt = clocksAt(request)
  if (window === undefined) return { stopEta: null, stopEtaTimeZone: null }
  if (window.instants === undefined || offsetAt === undefined) return { stopEta: shownText(window.opens), stopEtaTimeZone: null }
  const { first } = window.instants
  return { stopEta: shownText(first + offsetAt(first)), stopEtaTimeZone: zoneText(offsetAt(first)) }
}

type Equipment = NonNullable<PickupReport["equipmentInformation"]>

const equipmentOf = (equipment: Equipment): typeof EquipmentInformation.Type => {
  const { driverName, gpsCoordinates, stopsAway, trailerNumber } = equipment
  return {
    driverName: driverName ?? null,
    trailerNumber: trailerNumber ?? null,
    gpsCoordinates: gpsCoordinates ? { latitude: gpsCoordinates.latitude ?? null, longitude: gpsCoordinates.longitude ?? null } : null,
    stopsAway: stopsAway === 1 || stopsAway === 2 || stopsAway === 3 ? stopsAway : null
  }
}

const reportedShipment = (shipment: NonNullable<PickupReport["shipmentArray"]>[number]): VisibleShipment => ({
  proNumber: textOrNull(shipment.proNumber),
  destinationPostalCode: textOrNull(shipment.destinationPostalCode),
  destinationCountry: shipment.destinationCountry ?? null,
  handlingUnitQuantity: shipment.handlingUnitQuantity ?? null,
  weight: shipment.weight ?? null,
  referenceNumbers: shipment.referenceNumbers?.map(({ referenceType, referenceValue }) => ({
    referenceType: referenceType ?? null,
    referenceValue: referenceValue ?? null
  })) ?? null
})

const textOrNull = (text: string | null | undefined): string | null => given(text) ?? null

/** The requested shipments, or the whole request as one shipment, until the carrier reports what it picked up. SPEC-GAP-C16 */
const requestedShipments = (request: PickupRequest): ReadonlyArray<VisibleShipment> => {
  const shipments = request.shipmentDetails ?? []
  if (shipments.length > 0) return shipments.map((shipment, at) => requestedShipment(request, shipment, at))
  return [{
    proNumber: null,
    ...destinationOf(request, 0, 1),
    handlingUnitQuantity: request.handlingUnitCount,
    weight: request.grossPickupWeight,
    referenceNumbers: null
  }]
}

const requestedShipment = (request: PickupRequest, shipment: ShipmentDetail, at: number): VisibleShipment => ({
  proNumber: textOrNull(shipment.proNumber),
  ...destinationOf(request, at, request.shipmentDetails?.length ?? 0),
  handlingUnitQuantity: known(shipment.handlingUnitCount) ?? sumOf(shipment, countOf),
  weight: known(shipment.grossShipmentWeight) ?? known(shipment.weight) ?? sumOf(shipment, weightOf),
  referenceNumbers: shipment.referenceNumbers?.map(({ referenceNumber, referenceType }) => ({
    referenceType: referenceType ?? null,
    referenceValue: referenceNumber ?? null
  })) ?? null
})

/** One address applies to all shipments; as many addresses as shipments apply one to one; any other number is ambiguous. */
const destinationOf = (
  request: PickupRequest,
  at: number,
  shipments: number
): Pick<VisibleShipment, "destinationPostalCode" | "destinationCountry"> => {
  const addresses = request.destinationAddress ?? []
  const address = addresses.length === 1 ? addresses[0] : addresses.length === shipments ? addresses[at] : undefined
  return { destinationPostalCode: textOrNull(address?.cneeZip), destinationCountry: given(address?.cneeCountry) ?? null }
}

/** 0 is what nobody measured, as in the rules about size. SPEC-GAP-C10 */
const known = (size: number | null | undefined): number | null => (size ?? 0) > 0 ? size! : null

const countOf = (unit: HandlingUnitDetail): number | null => known(unit.unitCount) ?? known(unit.totalUnitCount)

const weightOf = (unit: HandlingUnitDetail): number | null => {
  const weight = known(unit.weight)
  return known(unit.totalWeight) ?? (weight === null ? null : weight * (countOf(unit) ?? 1))
}

const sumOf = (shipment: ShipmentDetail, measure: (unit: HandlingUnitDetail) => number | null): number | null => {
  const measures = (shipment.handlingUnitDetails ?? []).map(measure).filter((each) => each !== null)
  return measures.length === 0 ? null : Math.round(measures.reduce((sum, each) => sum + each, 0))
}
