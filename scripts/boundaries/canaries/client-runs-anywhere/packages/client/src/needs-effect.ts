import { Effect } from "effect"

export const needed = Effect.void
