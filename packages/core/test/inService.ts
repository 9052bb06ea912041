import { TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"

/** Runs a test in a new service in memory. */
export const inService = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, TestWaybill.layer())
