export { areaOfSource, areas, type AreaName, type AreaStores, type DeliveringArea, subscriptionsOfArea } from "./Areas.ts"
export * from "./Background.ts"
export * from "./Storage.ts"
export * from "./Transport.ts"
export * as Waybill from "./Waybill.ts"
export * from "./access/AccessErrors.ts"
export * from "./access/AccessOptions.ts"
export * from "./access/ClientAccess.ts"
export * from "./access/AccessStore.ts"
export * from "./access/ApiKeys.ts"
export * from "./access/Authenticator.ts"
export * from "./access/TenantAdmission.ts"
export * from "./audit/AuditLog.ts"
export * from "./audit/AuditStore.ts"
export * from "./audit/model/AuditEntry.ts"
export * from "./access/TenantLimits.ts"
export * from "./access/Tenants.ts"
export { ApiKeyRequest, type FoundApiKey, keyAddress, type ListedApiKey, sameHash, type StoredApiKey } from "./access/model/ApiKey.ts"
export * from "./access/model/CarrierNumbers.ts"
export * from "./access/model/Client.ts"
export { defaultLimits, type Limits, LimitsChange, limitsOf, LimitsShown, type Quota, quotas } from "./access/model/Limits.ts"
export * from "./access/model/Principal.ts"
export * from "./access/model/TenantState.ts"
export * from "./shared/CallingClient.ts"
export * from "./shared/CodePoints.ts"
export * from "./retention/Retention.ts"
export * from "./shared/Heap.ts"
export * from "./shared/RetentionOptions.ts"
export * from "./intake/TransitEventIntake.ts"
export * from "./shared/EffectCopy.ts"
export * from "./shared/Fault.ts"
export * from "./shared/RequestBatcher.ts"
export * from "./shared/Identifier.ts"
export * from "./shared/Instant.ts"
export * from "./shared/Integer.ts"
export * from "./shared/InvalidInput.ts"
export { canonicalText, isObject, type Json, maxDepth, nestsDeeperThan } from "./shared/Json.ts"
export { monotonicMillis, monotonicMillisUnsafe } from "./shared/MonotonicTime.ts"
export * from "./shared/NearestName.ts"
export * from "./shared/OptionNames.ts"
export { type Page, PageNumber, pageSizeUpTo } from "./shared/Page.ts"
export * from "./shared/StoredSince.ts"
export * from "./shared/StopDeadline.ts"
export * from "./shared/StorageError.ts"
export { isTraced, traced } from "./shared/TraceContext.ts"
export * from "./shared/Transaction.ts"
export * from "./shared/Turns.ts"
export * from "./shared/UniqueIds.ts"
export * from "./access/Sha256.ts"
export * from "./shared/SlidingWindowLimiter.ts"
export * from "./shared/LinkedList.ts"
export * from "./shared/RecentMap.ts"
export { type JourneyDelivery, ShipmentJourney, ShipmentJourneys, ShipmentSearchQuery } from "./journey/ShipmentJourneys.ts"
export { FoundShipment, maxFound } from "./journey/ShipmentSearch.ts"
export { type JourneyEntry } from "./journey/model/JourneyEntry.ts"
export * from "./operator/Backlogs.ts"
export * from "./operator/Clients.ts"
export { Explanation, Explanations, ExplainQuery } from "./operator/Explanations.ts"
export { type VerdictName, type VerdictReason, type WaitReason } from "./operator/Verdict.ts"
export { ReplayCall } from "./operator/ReplayCall.ts"
export * from "./operator/SubscriptionEdits.ts"
export * from "./operator/Subscriptions.ts"
export * from "./operator/TenantRemoval.ts"
export * from "./operator/Statistics.ts"
export * from "./operator/TenantHealths.ts"
export * from "./operator/TenantPickups.ts"
export * from "./shared/LineLimiter.ts"
export * from "./shared/ListLimits.ts"
export {
  type CountedPage,
  defaultListLimit,
  ListCursor,
  ListLimit,
  type ListPage,
  type ListRange,
  maxHistoryBytes,
  maxPageSize,
  NextCursor
} from "./shared/ListPage.ts"
export * from "./intake/DeferredStatuses.ts"
export * from "./intake/FreightChargeIntake.ts"
export {
  inOrder,
  type Intake,
  type IntakeBody,
  type IntakeOptions,
  type IntakeResults,
  type ItemResult,
  itemsOf,
  maxItemsPerCall,
  type ReadItem,
  refusedCall,
  type RefusedItem
} from "./intake/IntakeItems.ts"
export * from "./intake/ShipmentIntake.ts"
export * from "./intake/StatusUpdateIntake.ts"
export type { EditableSubscriptionStore, StoredSubscriptionRow, SubscriptionRow } from "./subscriptions/EditableSubscriptionStore.ts"
export { type Mail } from "./mail/model/Mail.ts"
export * from "./mail/Mailer.ts"
export * from "./mail/MailOutbox.ts"
export * from "./mail/MailStore.ts"
export * from "./notices/EndpointNotices.ts"
export * from "./notices/Notice.ts"
export { NoticeContact, NoticeContactView } from "./notices/NoticeContacts.ts"
export * from "./notices/NoticeStore.ts"
export * from "./portal/CustomerPortal.ts"
export * from "./portal/PortalAccess.ts"
export * from "./portal/model/PortalLink.ts"
