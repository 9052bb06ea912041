/** The whole service as one layer. It needs a storage layer and a transport layer. */
import { Layer } from "effect"
import { ApiKeys } from "./access/ApiKeys.ts"
import { TenantLimits } from "./access/TenantLimits.ts"
import { Tenants } from "./access/Tenants.ts"
import { AuditLog } from "./audit/AuditLog.ts"
import { Deliveries } from "./delivery/Deliveries.ts"
import { DeliveryWorker } from "./delivery/DeliveryWorker.ts"
import { SigningSecrets } from "./delivery/SigningSecrets.ts"
import { ChargeSubscriptions } from "./freight-charges/ChargeSubscriptions.ts"
import { ChargeWindows } from "./freight-charges/ChargeWindows.ts"
import { FreightCharges } from "./freight-charges/FreightCharges.ts"
import { FreightChargeIntake } from "./intake/FreightChargeIntake.ts"
import { ShipmentIntake } from "./intake/ShipmentIntake.ts"
import { StatusUpdateIntake } from "./intake/StatusUpdateIntake.ts"
import { TransitEventIntake } from "./intake/TransitEventIntake.ts"
import { InvoiceDocuments } from "./invoices/InvoiceDocuments.ts"
import { Invoices } from "./invoices/Invoices.ts"
import { ShipmentJourneys } from "./journey/ShipmentJourneys.ts"
import { Explanations } from "./operator/Explanations.ts"
import { Subscriptions } from "./operator/Subscriptions.ts"
import { Backlogs } from "./operator/Backlogs.ts"
import { Clients } from "./operator/Clients.ts"
import { TenantRemoval } from "./operator/TenantRemoval.ts"
import { TenantHealths } from "./operator/TenantHealths.ts"
import { Pickups } from "./pickups/Pickups.ts"
import { Retention } from "./retention/Retention.ts"
import { UniqueIds } from "./shared/UniqueIds.ts"
import { ShipmentReports } from "./shipment-status/ShipmentReports.ts"
import { ShipmentStatuses } from "./shipment-status/ShipmentStatuses.ts"
import { StatusSubscriptions } from "./shipment-status/StatusSubscriptions.ts"
import { TransitEvents } from "./transit-events/TransitEvents.ts"
import { TransitSubscriptions } from "./transit-events/TransitSubscriptions.ts"

/**
 * All services and the delivery worker (not started).
 *
 * Needs a storage layer (`Transaction`, `AccessStore`, `SecretStore`, the stores of every area, `DeliveryQueue`, `Wakeups`),
 * a transport layer (`WebhookSender`, `Hmac`, `ContentHash`), a `Sealer` and `DeliveryOptions`.
 */
export const layer = Layer.mergeAll(
  ShipmentIntake.layer,
  StatusUpdateIntake.layer,
  TransitEventIntake.layer,
  ShipmentStatuses.layer,
  StatusSubscriptions.layer,
  FreightChargeIntake.layer,
  ChargeSubscriptions.layer,
  ChargeWindows.layer,
  Invoices.layer,
  InvoiceDocuments.layer,
  Pickups.layer,
  ShipmentJourneys.layer,
  Layer.provideMerge(Clients.layer, Subscriptions.layer),
  Explanations.layer,
  TenantHealths.layer,
  TransitSubscriptions.layer,
  Deliveries.layer,
  DeliveryWorker.layer,
  Retention.layer,
  TenantRemoval.layer,
  Backlogs.layer,
  ApiKeys.layer,
  AuditLog.layer
).pipe(
  Layer.provideMerge(Layer.mergeAll(TransitEvents.layer, ShipmentReports.layer, FreightCharges.layer, SigningSecrets.layer)),
  Layer.provideMerge(Layer.mergeAll(Tenants.layer, TenantLimits.layer)),
  Layer.provideMerge(UniqueIds.layer)
)
