import type { Left } from "./Left.ts"

export const right: Left = ""
