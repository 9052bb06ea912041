import { request } from "undici"

export const used = request
