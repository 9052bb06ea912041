import type { PickupCanaryStore } from "../PickupCanaryStore.ts"

export type Asked = PickupCanaryStore
