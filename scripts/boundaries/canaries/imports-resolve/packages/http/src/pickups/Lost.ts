import { nothing } from "./NotThere.ts"

export const lost = nothing
