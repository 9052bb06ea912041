export { type DeliveryAnswer } from "./DeliveryAnswer.ts"
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
export { type Claim, type ClaimAnswer, SeenInMemory, type SeenInMemoryOptions, type SeenStore } from "./SeenStore.ts"
export {
  addSequences,
  holesBetween,
  type MissingSequences,
  type SequenceRange,
  type SequenceReport,
  SequencesInMemory,
  type SequencesInMemoryOptions,
  type SequenceStore
} from "./Sequences.ts"
export {
  type SignatureHeaders,
  signDelivery,
  type SignDeliveryOptions,
  signXSignature,
  type VerifiedDelivery,
  verifyDelivery,
  type VerifyDeliveryOptions,
  verifyXSignature
} from "./Signature.ts"
export { type WebhookSecrets, WebhookSecretUnusable } from "./WebhookSecret.ts"
