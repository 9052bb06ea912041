export { type FreightBillChange, type FreightBillRemoval, type FreightBillVersion, type ReportedCharge } from "./FreightBillChange.ts"
export { IntakeClient, type IntakeClientOptions, type PublishOptions, type ReportedEvent } from "./IntakeClient.ts"
export {
  type ChargePublication,
  type EventPublication,
  type IntakeReport,
  type ItemResult,
  type ShipmentRegistration,
  type StatusOutcome,
  type StatusPublication
} from "./IntakeReport.ts"
export {
  type PickupBatch,
  type PickupChange,
  type PickupChangeQuery,
  type PickupChanges,
  type PickupDecision,
  type PickupHistory,
  type PickupRecord,
  type PickupReported,
  type PickupSubscription,
  type PickupSubscriptionCreate,
  type PickupSubscriptionPatch,
  type PickupSubscriptionsPage,
  type ReportedPickup,
  type ReportedPickupCode,
  type ReportedPickupShipment
} from "./ReportedPickup.ts"
export {
  type ReportedInformation,
  type ReportedMovement,
  type ReportedShipment,
  type ReportedStatus,
  type ShipmentRecord,
  type StatusHistory
} from "./ReportedShipment.ts"
