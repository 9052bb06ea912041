export { type EventBatch, EventBatchMalformed, parseEventBatch } from "./EventBatch.ts"
export * from "./TransitEvent.ts"
export * from "./TransitEventsClient.ts"
export type * from "./TransitSubscription.ts"
