/** The whole service as one layer, over a storage layer and a transport layer. */
import { Layer } from "effect"
import { areas } from "./Areas.ts"
import { ApiKeys } from "./access/ApiKeys.ts"
import { TenantLimits } from "./access/TenantLimits.ts"
import { Tenants } from "./access/Tenants.ts"
import { AuditLog } from "./audit/AuditLog.ts"
import { Deliveries } from "./delivery/Deliveries.ts"
import { DeliveryWorker } from "./delivery/worker/DeliveryWorker.ts"
import { layerStatisticsRecorder } from "./delivery/statistics/StatisticsRecorder.ts"
import { SigningSecrets } from "./delivery/secrets/SigningSecrets.ts"
import { WebhookTests } from "./delivery/WebhookTests.ts"
import { DeferredStatuses } from "./intake/DeferredStatuses.ts"
import { FreightChargeIntake } from "./intake/FreightChargeIntake.ts"
import { ShipmentIntake } from "./intake/ShipmentIntake.ts"
import { StatusUpdateIntake } from "./intake/StatusUpdateIntake.ts"
import { TransitEventIntake } from "./intake/TransitEventIntake.ts"
import { ShipmentJourneys } from "./journey/ShipmentJourneys.ts"
import { Explanations } from "./operator/Explanations.ts"
import { Statistics } from "./operator/Statistics.ts"
import { SubscriptionEdits } from "./operator/SubscriptionEdits.ts"
import { Subscriptions } from "./operator/Subscriptions.ts"
import { Backlogs } from "./operator/Backlogs.ts"
import { Clients } from "./operator/Clients.ts"
import { TenantRemoval } from "./operator/TenantRemoval.ts"
import { TenantHealths } from "./operator/TenantHealths.ts"
import { TenantPickups } from "./operator/TenantPickups.ts"
import { MailOutbox } from "./mail/MailOutbox.ts"
import { EndpointNotices } from "./notices/EndpointNotices.ts"
import { CustomerPortal } from "./portal/CustomerPortal.ts"
import { PortalAccess } from "./portal/PortalAccess.ts"
import { Retention } from "./retention/Retention.ts"
import type { StoragePorts } from "./Storage.ts"
import type { TransportPorts } from "./Transport.ts"
import { layerOneEffect } from "./shared/EffectCopy.ts"
import { UniqueIds } from "./shared/UniqueIds.ts"

/** Every use case of the five areas, of intake and of operators, and the background work. */
export type Services = Layer.Success<typeof services>

export interface Parts<StorageOut, StorageError, StorageNeeds, TransportOut, TransportError, TransportNeeds> {
  /** All storage ports: `StoragePostgres.layerUrl` of `@waybill/postgres`, or `StorageMemory.layer` of `@waybill/testkit`. */
  readonly storage: Layer.Layer<StoragePorts | StorageOut, StorageError, StorageNeeds>
  /** `TransportHttp.layer` of `@waybill/http`. */
  readonly transport: Layer.Layer<TransportPorts | TransportOut, TransportError, TransportNeeds>
}

/**
 * All services, with everything that the storage and the transport provide. Nothing is delivered until `runBackground` runs.
 *
 * Options have defaults: provide `DeliveryOptions`, `RetentionOptions`, `AccessOptions`, `ShipmentStatusOptions`, `FreightChargeOptions`,
 * `NoticeOptions`, `Mailer` or `PickupDesk` to this layer to change them.
 */
export const layer = <StorageOut, StorageError, StorageNeeds, TransportOut, TransportError, TransportNeeds>(
  { storage, transport }: Parts<StorageOut, StorageError, StorageNeeds, TransportOut, TransportError, TransportNeeds>
): Layer.Layer<
  Services | StoragePorts | StorageOut | TransportPorts | TransportOut,
  StorageError | TransportError,
  StorageNeeds | TransportNeeds
> =>
  services.pipe(
    Layer.provideMerge(Layer.merge(storage, transport)),
    Layer.provide(layerOneEffect("Waybill.layer"))
  )

type AreaLayer = typeof areas[number]["services"]

const [first, ...more]: ReadonlyArray<AreaLayer> = areas.map((area) => area.services)

const services = Layer.mergeAll(
  ShipmentIntake.layer,
  StatusUpdateIntake.layer,
  TransitEventIntake.layer,
  DeferredStatuses.layer,
  FreightChargeIntake.layer,
  TenantPickups.layer,
  ShipmentJourneys.layer,
  Clients.layer,
  CustomerPortal.layer,
  EndpointNotices.layer,
  SubscriptionEdits.layer,
  PortalAccess.layer,
  Explanations.layer,
  TenantHealths.layer,
  Statistics.layer,
  Layer.provide(DeliveryWorker.layer, layerStatisticsRecorder),
  Retention.layer,
  TenantRemoval.layer,
  Backlogs.layer,
  ApiKeys.layer,
  AuditLog.layer
).pipe(
  Layer.provideMerge(Layer.mergeAll(Subscriptions.layer, Deliveries.layer)),
  Layer.provideMerge(Layer.mergeAll(first!, ...more)),
  Layer.provideMerge(Layer.mergeAll(SigningSecrets.layer, WebhookTests.layer)),
  Layer.provideMerge(Layer.mergeAll(Tenants.layer, TenantLimits.layer, MailOutbox.layer)),
  Layer.provideMerge(UniqueIds.layer)
)
