/** The caller's input is invalid. The error lists the faults; nothing was changed. */
import { Effect, Exit, Result, Schema, SchemaParser } from "effect"
import { boundedDecoding, type DecodingBounds } from "./BoundedDecoding.ts"
import { type Fault, faultCodes, faultsOf, maxFaults } from "./Fault.ts"
import { listLimitsOf, overlongLists } from "./ListLimits.ts"
import { makePace } from "./Turns.ts"
import { taggedFailure } from "./TaggedFailure.ts"

/** The input has faults. Each names its place by a JSON pointer; HTTP answers 400. */
export class InvalidInput extends taggedFailure<InvalidInput>()("InvalidInput", {
  faults: Schema.Array(Schema.Struct({
    pointer: Schema.String,
    detail: Schema.String,
    code: Schema.Literals(faultCodes)
  }))
}, ({ faults }) => faults.map((fault) => `${fault.pointer || "body"}: ${fault.detail}`).join(" ")) {
  static readonly of = (...faults: ReadonlyArray<Fault>) => new InvalidInput({ faults })

  /** Fails with the faults, if there are any. */
  static readonly ifAny = (faults: ReadonlyArray<Fault>): Effect.Effect<void, InvalidInput> => faults.length === 0 ? Effect.void : Effect.fail(new InvalidInput({ faults }))
}

/** The encoded type of a schema with lists of any length: an empty list is a fault that the type cannot express. */
export type WithLists<Encoded> = {
  readonly [Name in keyof Encoded]: Exclude<Encoded[Name], undefined> extends readonly [infer Item, ...ReadonlyArray<infer Item>] ? ReadonlyArray<Item> : Encoded[Name]
}

/**
 * Builds a decoder of unknown input that lists up to 100 faults. It refuses lists that are too long before it decodes their items, and
 * decodes long input in slices. With `closed`, unknown fields are refused; otherwise they are left out of the result.
 */
export const decodeInput = <S extends Decodable>(schema: S, options?: DecodeOptions) => {
  const decode = bounded(schema, options)
  return (input: unknown, prefix: ReadonlyArray<PropertyKey> = []): Effect.Effect<S["Type"], InvalidInput> =>
    Effect.flatMap(makePace, (pace) => decode(input, prefix, { faultsLeft: maxFaults, pace }))
}

/**
 * Like `decodeInput`, as a synchronous function, for calls with many items. Valid input is decoded without a search for every fault, which
 * takes a fifth of the time.
 */
export const readInput = <S extends Decodable>(schema: S, options?: DecodeOptions) => {
  const limits = listLimitsOf(schema)
  const decode = bounded(schema, options)
  const decodeValid = SchemaParser.decodeUnknownExit(schema, options?.closed === true ? { onExcessProperty: "error" } : undefined)
  return (input: unknown, prefix: ReadonlyArray<PropertyKey> = []): Result.Result<S["Type"], InvalidInput> => {
    if (overlongLists(limits, input, prefix, 1).length === 0) {
      const valid = decodeValid(input)
      if (Exit.isSuccess(valid)) return Result.succeed(valid.value)
    }
    return Effect.runSync(Effect.result(decode(input, prefix, { faultsLeft: maxFaults })))
  }
}

/** Like `readInput`, but returns valid input itself, with members that the schema does not know: copies of many items would live as long as their call. */
export const checkInput = <A>(schema: Schema.Codec<A, A>) => {
  const limits = listLimitsOf(schema)
  const isValid = SchemaParser.is(schema)
  const read = readInput(schema)
  return (input: unknown, prefix: ReadonlyArray<PropertyKey> = []): Result.Result<A, InvalidInput> =>
    overlongLists(limits, input, prefix, 1).length === 0 && isValid(input) ? Result.succeed(input) : read(input, prefix)
}

const bounded = <S extends Decodable>(schema: S, options: DecodeOptions | undefined) => {
  const limits = listLimitsOf(schema)
  const decode = boundedDecoding<S["Type"]>(schema, { onExcessProperty: options?.closed === true ? "error" : "ignore" })
  return (input: unknown, prefix: ReadonlyArray<PropertyKey>, bounds: DecodingBounds): Effect.Effect<S["Type"], InvalidInput> => {
    const overlong = overlongLists(limits, input, prefix, maxFaults)
    if (overlong.length > 0) return Effect.fail(new InvalidInput({ faults: overlong }))
    return Effect.mapError(decode(input, bounds), (issue) => new InvalidInput({ faults: faultsOf(issue, prefix) }))
  }
}

type Decodable = Schema.Top & { readonly DecodingServices: never }

interface DecodeOptions {
  readonly closed?: boolean
}
