export type PickupService = string
