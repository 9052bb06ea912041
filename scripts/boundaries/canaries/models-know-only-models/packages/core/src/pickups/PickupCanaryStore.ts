export type PickupCanaryStore = string
