export {
  type DeliveryDateType,
  type PickupAddress,
  type PickupBillTo,
  type PickupDestination,
  type PickupHandlingUnit,
  type PickupOrder,
  type PickupRequest,
  type PickupShipment,
  type WeightUnit
} from "./PickupRequest.ts"
export * from "./PickupsClient.ts"
export * from "./PickupVisibility.ts"
