import { method } from "../../http/src/asked-by-edi.ts"

export const asked = method
