export { type DeliveryAnswer } from "./DeliveryAnswer.ts"
export { type DeliveryBody } from "./DeliveryBody.ts"
export { type DeliveryHeaders } from "./DeliveryHeaders.ts"
export * from "./DeliveryReceiver.ts"
export * from "./DeliveryRefused.ts"
export { type DeliveryContent, readContent, readDelivery, type ReadDeliveryOptions, type ReceivedDelivery } from "./ReceivedDelivery.ts"
export * from "./SeenInMemory.ts"
export * from "./SeenInPostgres.ts"
export * from "./SeenInRedis.ts"
export { type Claim, type ClaimAnswer, type SeenRetention, type SeenStore, type TransactionalSeenStore } from "./SeenStore.ts"
export { type PostgresRows, seenTableSql } from "./SeenTable.ts"
export {
  addSequences,
  gapsBetween,
  type MissingSequences,
  type SequenceRange,
  type SequenceReport,
  SequencesInMemory,
  type SequencesInMemoryOptions,
  type SequenceStore
} from "./Sequences.ts"
export {
  type SignatureHeaders,
  type SignatureScheme,
  type VerifiedDelivery,
  verifyDelivery,
  type VerifyDeliveryOptions,
  verifyXSignature
} from "./Signature.ts"
export * from "./SignedDelivery.ts"
export { type WebhookSecrets, WebhookSecretUnusable } from "./WebhookSecret.ts"
