import type { Known } from "@waybill/core"

export type Same = Known
