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
export {
  type CreatePickupOptions,
  type PickupLookup,
  PickupsClient,
  type PickupsClientOptions,
  type PickupVisibilityOptions
} from "./PickupsClient.ts"
export {
  type PickupAnswer,
  type PickupAnswers,
  type PickupEquipment,
  type PickupInformationCode,
  type PickupStatus,
  pickupStatuses,
  type PickupVisibility,
  type VisibleShipment
} from "./PickupVisibility.ts"
