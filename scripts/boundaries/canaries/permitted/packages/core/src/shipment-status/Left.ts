import { right } from "./Right.ts"

export type Left = string
export const left = right
