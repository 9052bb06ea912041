export type * from "./FreightShapes.ts"
export * from "./ShipmentStatusClient.ts"
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
export * from "./TrackedShipment.ts"
