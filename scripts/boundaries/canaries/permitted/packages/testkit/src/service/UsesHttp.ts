import { contract } from "@waybill/http"

export const asked = contract
