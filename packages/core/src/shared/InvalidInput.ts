/** What the caller sent cannot be used; every fault is named, nothing was changed. */
import { Effect, Result, Schema } from "effect"
import { type Fault, faultsOf } from "./Fault.ts"

export class InvalidInput extends Schema.TaggedError<InvalidInput>()("InvalidInput", {
  faults: Schema.Array(Schema.Struct({
    pointer: Schema.String,
    detail: Schema.String,
    code: Schema.Literals([
      "required",
      "unknown_field",
      "invalid",
      "out_of_bounds",
      "not_allowed",
      "conflict",
      "unknown_reference"
    ])
  }))
}) {
  override get message(): string {
    return this.faults.map((fault) => `${fault.pointer || "body"}: ${fault.detail}`).join(" ")
  }

  static readonly of = (...faults: ReadonlyArray<Fault>) => new InvalidInput({ faults })
}

/**
 * Decodes unknown input by a schema, naming every fault. Unknown fields are refused with `closed`, otherwise kept out
 * of the result.
 */
export const decodeInput = <S extends Decodable>(schema: S, options?: DecodeOptions) => {
  const decode = readInput(schema, options)
  return (input: unknown, prefix?: ReadonlyArray<PropertyKey>): Effect.Effect<S["Type"], InvalidInput> =>
    Effect.suspend(() => Effect.fromResult(decode(input, prefix)))
}

/** The same as a plain function, for the many items of one call. */
export const readInput = <S extends Decodable>(schema: S, options?: DecodeOptions) => {
  const decode = Schema.decodeUnknownResult(schema, {
    errors: "all",
    onExcessProperty: options?.closed === true ? "error" : "ignore"
  })
  return (input: unknown, prefix: ReadonlyArray<PropertyKey> = []): Result.Result<S["Type"], InvalidInput> =>
    Result.mapError(decode(input), (error) => new InvalidInput({ faults: faultsOf(error, prefix) }))
}

type Decodable = Schema.Top & { readonly DecodingServices: never }

interface DecodeOptions {
  readonly closed?: boolean
}
