export {
  type Commodity,
  type CountryCode,
  type CustomsAgentBroker,
  type HandlingUnit,
  type ReferenceNumbers,
  type StandardAddress,
  type TerminalInfo,
  type TerminalStatus,
  type TimeCriticalInfo
} from "./FreightShapes.ts"
export {
  type FoundShipment,
  type PickupRange,
  type ShipmentLookup,
  ShipmentStatusClient,
  type ShipmentStatusClientOptions,
  type StatusSubscribed,
  type StatusSubscriptionCreate
} from "./ShipmentStatusClient.ts"
export {
  type AppointmentChange,
  type CustomsStatus,
  type DeliveryInformation,
  type DeliveryMessage,
  deliveryMessages,
  type DeliveryUpdate,
  isDeliveryUpdate,
  type NotifiedTerminalStatus,
  parseStatusNotification,
  type StatusNotification,
  StatusNotificationMalformed,
  type TerminalType
} from "./StatusNotification.ts"
export {
  type AppointmentStatus,
  type CrossBorderStatus,
  type Milestone,
  milestones,
  type PublicShipment,
  type TimeCriticalType,
  type VerifiedShipment
} from "./TrackedShipment.ts"
