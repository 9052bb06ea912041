import { memory } from "@waybill/testkit"

export const used = memory
