/** Storage ports in memory. */
import { type Context, Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"

type Tables = Readonly<Record<string, Effect.Effect<unknown, never, unknown>>>

/** The layer of a port, whose operations use the database and these tables. */
export const storeLayer = <I, Port, T extends Tables>(
  port: Context.Key<I, Port>,
  tables: T,
  operations: (parts: MemoryDatabase["Service"] & { readonly [K in keyof T]: Effect.Success<T[K]> }) => NoInfer<Port>
) =>
  Layer.effect(port, Effect.gen(function*() {
    const database = yield* MemoryDatabase
    const rows = yield* Effect.all(tables as Tables) as Effect.Effect<{ readonly [K in keyof T]: Effect.Success<T[K]> }, never, Effect.Services<T[keyof T]>>
    return operations({ ...database, ...rows })
  }))
