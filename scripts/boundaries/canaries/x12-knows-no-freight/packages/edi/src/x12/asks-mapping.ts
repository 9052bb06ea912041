import { code } from "../mapping/code.ts"

export const asked = code
