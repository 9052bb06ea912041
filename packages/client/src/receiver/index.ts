export { type DeliveryAnswer } from "./DeliveryAnswer.ts"
export { type DeliveryBody } from "./DeliveryBody.ts"
export { type DeliveryHeaders } from "./DeliveryHeaders.ts"
export {
  type DeliveryContext,
  type DeliveryReceipt,
  DeliveryReceiver,
  type DeliveryReceiverOptions,
  type NotificationContext,
  type RawDelivery
} from "./DeliveryReceiver.ts"
export { DeliveryRefused, RawBodyNeeded, type RefusalReason } from "./DeliveryRefused.ts"
export { type DeliveryContent, readDelivery, type ReadDeliveryOptions, type ReceivedDelivery } from "./ReceivedDelivery.ts"
export { SeenInMemory, type SeenInMemoryOptions } from "./SeenInMemory.ts"
export {
  type ConnectionOf,
  type PostgresClient,
  type PostgresConnection,
  type PostgresPool,
  type PostgresTransactions,
  SeenInPostgres,
  type SeenInPostgresOptions,
  SeenInPostgresTransaction
} from "./SeenInPostgres.ts"
export { type RedisClient, SeenInRedis, type SeenInRedisOptions } from "./SeenInRedis.ts"
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
export { type SignedContent, type SignedDelivery, signDelivery, type SignDeliveryOptions } from "./SignedDelivery.ts"
export { type WebhookSecrets, WebhookSecretUnusable } from "./WebhookSecret.ts"
