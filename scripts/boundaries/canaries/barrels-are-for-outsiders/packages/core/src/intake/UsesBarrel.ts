import type { All } from "../index.ts"

export type Used = All
