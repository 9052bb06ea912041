export type * from "./PickupRequest.ts"
export * from "./PickupsClient.ts"
export * from "./PickupVisibility.ts"
