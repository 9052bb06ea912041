/** A use case as a promise. */
import type { Effect, Layer } from "effect"
import type { TestWaybill } from "../TestWaybill.ts"

/** All services of the service in memory. */
export type TestServices = Layer.Success<ReturnType<typeof TestWaybill.layer>>

/** Rejects with the use case's own error, whose `_tag` names it. Resolves after due deliveries were sent. */
export type Run = <A, E>(effect: Effect.Effect<A, E, TestServices>) => Promise<A>

const decoder = new TextDecoder()

export const parsed = <A>(bytes: Uint8Array): A => JSON.parse(decoder.decode(bytes))
