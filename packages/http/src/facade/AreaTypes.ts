/** Types of the areas in the signatures of the methods, for hosts that do not depend on `@waybill/core`. */
export type {
  ApiKeyRequest,
  ApiKeyView,
  AuditEntry,
  BulkResult,
  ClientView,
  CountedPage,
  DeliveryBodyView,
  DeliveryError,
  DeliveryPolicy,
  DeliveryView,
  Explanation,
  FoundShipment as JourneyShipment,
  FreightChargeKey,
  HealthView,
  StatisticsPoint,
  StatisticsView,
  IntakeOptions,
  ItemResult,
  DestinationState as SubscriptionState,
  Limits,
  LimitsChange,
  ListPage,
  Mail,
  NoticeContactView,
  PickupView,
  PortalDelivery,
  PortalTestResult,
  PortalTheme,
  PurgeResult,
  SecretView,
  ShipmentJourney,
  ShipmentKey,
  StatusUpdateKey,
  SubscriptionStatus,
  SubscriptionView,
  Tenant,
  WaybillStorage
} from "@waybill/core"
export type {
  BillChangeReport,
  BillRemovalReport,
  ChargeSubscription,
  ChargeSubscriptionCreate,
  PreliminaryFreightCharge,
  WebhookTestResult
} from "@waybill/core/freight-charges"
export type {
  DocumentChange,
  DocumentType,
  Invoice,
  InvoiceAnswer,
  InvoiceChange,
  InvoiceComment,
  UploadAnswer
} from "@waybill/core/invoices"
export type {
  CancelledPickup,
  CarrierDecisionInput,
  PickupAnswer,
  PickupChangeEntry,
  PickupChangeQueryInput,
  PickupDecision,
  PickupDeskCall,
  PickupInput,
  PickupOptions,
  PickupOrder,
  PickupQuery,
  PickupRecord,
  PickupReportInput,
  PickupReportResult,
  PickupRequest,
  PickupSubscription,
  PickupSubscriptionInput,
  PickupSubscriptionPatchInput,
  PickupSubscriptionQueryInput,
  PickupVisibility
} from "@waybill/core/pickups"
export type {
  LookupBy,
  PostedShipment,
  PublicShipment,
  ShipmentRecord,
  ShipmentView,
  StatusUpdate,
  SubscribeRequest,
  SubscriptionResult,
  VerifiedShipment
} from "@waybill/core/shipment-status"
export type {
  EventType,
  Publication,
  ReportedEvent,
  SubscriptionCreate,
  SubscriptionPatch,
  TransitEvent,
  TransitSubscription
} from "@waybill/core/transit-events"
