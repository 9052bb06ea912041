import { toNextHandlers } from "@waybill/http/next"
import { waybill } from "../../waybill.ts"

export const dynamic = "force-dynamic"
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = toNextHandlers(waybill)
