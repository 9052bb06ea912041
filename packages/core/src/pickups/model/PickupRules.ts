/** Business rules of a pickup request, beyond its schema. */
import { type Fault, fault } from "../../shared/Fault.ts"
import { dateParts } from "./DateText.ts"
import { given } from "./KeptText.ts"
import type { HandlingUnitDetail, PickupRequest, ShipmentDetail } from "./PickupRequest.ts"
import { readPickupWindow } from "./PickupWindow.ts"

/** Lists every fault, except those that depend on the caller, the path or the time. */
export const pickupRequestFaults = (request: PickupRequest): ReadonlyArray<Fault> => {
  const reading = readPickupWindow(request)
  return [
    ...functionFaults(request),
    ...sizeFaults(request),
    ...(request.shipmentDetails ?? []).flatMap((shipment, at) => shipmentFaults(shipment, ["shipmentDetails", at])),
    ...(request.destinationAddress ?? []).flatMap(({ cneeZip }, at) =>
      given(cneeZip) === undefined ? [fault(["destinationAddress", at, "cneeZip"], "A destination needs its postal code.", "required")] : []
    ),
    ...(reading._tag === "Refused" ? [reading.fault] : [])
  ]
}

const functionFaults = ({ carrierPickupNumber, requestFunction }: PickupRequest): ReadonlyArray<Fault> => {
  const number = given(carrierPickupNumber)
  if (requestFunction === "NewPickup" && number !== undefined) {
    return [fault(["carrierPickupNumber"], "A new pickup has no number yet. Send null, or ModifyExisting.", "not_allowed")]
  }
  return requestFunction === "ModifyExisting" && number === undefined
    ? [fault(["carrierPickupNumber"], "Name the pickup to change.", "required")]
    : []
}

type Size = (shipment: ShipmentDetail) => boolean

/** Weight, units and space are required: as totals of the request, or in every shipment. SPEC-GAP-C10 */
const sizeFaults = (request: PickupRequest): ReadonlyArray<Fault> => [
  ...(request.grossPickupWeight > 0 ? [] : missingSize(request, "grossPickupWeight", hasWeight, "weight", "Give the weight, 1 to 999999")),
  ...(request.handlingUnitCount > 0 ? [] : missingSize(request, "handlingUnitCount", hasUnits, "handlingUnitCount", "Give the handling units, 1 to 500")),
  ...(isSome(request.cubicFeet) || isSome(request.linearFeet)
    ? []
    : missingSize(request, "cubicFeet", hasSpace, "handlingUnitDetails", "Give the space, as cubicFeet or linearFeet"))
]

const missingSize = (request: PickupRequest, total: string, has: Size, detail: string, sentence: string): ReadonlyArray<Fault> => {
  const shipments = request.shipmentDetails ?? []
  const lacking = shipments.flatMap((shipment, at) => has(shipment) ? [] : [at])
  // no shipment has the value, so the fault names the total
  if (lacking.length === shipments.length) return [fault([total], `${sentence}, or in each of shipmentDetails.`, "required")]
  return lacking.map((at) => fault(["shipmentDetails", at, detail], `${sentence} of the request, or here as in the other shipments.`, "required"))
}

const isSome = (size: number | null | undefined): boolean => (size ?? 0) > 0

const units = (shipment: ShipmentDetail): ReadonlyArray<HandlingUnitDetail> => shipment.handlingUnitDetails ?? []

const everyUnit = (shipment: ShipmentDetail, has: (unit: HandlingUnitDetail) => boolean): boolean =>
  units(shipment).length > 0 && units(shipment).every(has)

const hasWeight: Size = (shipment) =>
  isSome(shipment.weight) || isSome(shipment.grossShipmentWeight) ||
  everyUnit(shipment, (unit) => isSome(unit.weight) || isSome(unit.totalWeight))

const hasUnits: Size = (shipment) =>
  isSome(shipment.handlingUnitCount) || everyUnit(shipment, (unit) => isSome(unit.unitCount) || isSome(unit.totalUnitCount))

const hasSpace: Size = (shipment) =>
  units(shipment).some((unit) => isSome(unit.totalLinearFeetofShipment)) ||
  everyUnit(shipment, (unit) => isSome(unit.length) && isSome(unit.width) && isSome(unit.height))

const shipmentFaults = (shipment: ShipmentDetail, path: ReadonlyArray<PropertyKey>): ReadonlyArray<Fault> => [
  ...hazmatFaults(shipment, path),
  ...deliveryFaults(shipment, path),
  ...units(shipment).flatMap((unit, at) =>
    isSome(unit.unitCount) || isSome(unit.totalUnitCount)
      ? []
      : [fault([...path, "handlingUnitDetails", at, "unitCount"], "Give the number of these units.", "required")]
  )
]

/** SPEC-GAP-C38 */
const hazmatFaults = (shipment: ShipmentDetail, path: ReadonlyArray<PropertyKey>): ReadonlyArray<Fault> =>
  shipment.hazmatCheck
    ? (["hazmatContactName", "hazmatContactPhoneNumber"] as const).flatMap((member) =>
      given(shipment[member]) === undefined ? [fault([...path, member], "Hazardous freight needs a contact.", "required")] : []
    )
    : []

const deliveryFaults = (shipment: ShipmentDetail, path: ReadonlyArray<PropertyKey>): ReadonlyArray<Fault> => {
  const [begin, end] = [given(shipment.deliveryBeginDate), given(shipment.deliveryEndDate)]
  if (shipment.deliveryDateType?.toLowerCase() !== "delivery window") {
    return end === undefined
      ? []
      : [fault([...path, "deliveryEndDate"], "deliveryEndDate goes with the deliveryDateType Delivery Window.", "not_allowed")]
  }
  if (begin === undefined || end === undefined) {
    return (["deliveryBeginDate", "deliveryEndDate"] as const).filter((member) => given(shipment[member]) === undefined)
      .map((member) => fault([...path, member], "A Delivery Window needs its begin and its end.", "required"))
  }
  return endsBefore(begin, end) ? [fault([...path, "deliveryEndDate"], "A Delivery Window ends on or after its begin.")] : []
}

/** Compares only what is comparable: two days, two instants, or two local times without a zone. */
const endsBefore = (beginText: string, endText: string): boolean => {
  const [begin, end] = [dateParts(beginText)!, dateParts(endText)!]
  if (begin.day === undefined || end.day === undefined) return false
  const sameKind = (begin.offset === undefined) === (end.offset === undefined) && begin.clock !== undefined && end.clock !== undefined
  return sameKind
    ? end.day + end.clock - (end.offset ?? 0) < begin.day + begin.clock - (begin.offset ?? 0)
    : end.day < begin.day
}
