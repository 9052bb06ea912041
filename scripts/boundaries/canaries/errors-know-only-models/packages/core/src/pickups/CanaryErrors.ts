import type { PickupService } from "./PickupService.ts"

export type Asked = PickupService
