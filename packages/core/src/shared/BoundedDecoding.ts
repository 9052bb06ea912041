/** Decoding that stops after a number of faults, and yields to other work between the items of long lists. */
import { Cause, Effect, Exit, Schema, SchemaAST, type SchemaIssue, SchemaParser } from "effect"
import type { Pace } from "./Turns.ts"

/** Budget of one decoding. */
export interface DecodingBounds {
  /** Faults that may still be reported. Items after the last one are not decoded. */
  faultsLeft: number
  /** Decoding runs without a break when this is left out. */
  readonly pace?: Pace
}

const bounds = Symbol("bounds")

interface BoundedOptions extends SchemaAST.ParseOptions {
  readonly [bounds]?: DecodingBounds
}

type Decode<A> = (input: unknown, left: DecodingBounds) => Effect.Effect<A, SchemaIssue.Issue>

/**
 * Builds a decoder for a schema that reports every fault within the bounds. Items of lists and records are decoded one by one and checked
 * against the bounds; all other nodes decode as the schema defines.
 */
export const boundedDecoding = <A>(
  schema: Schema.Top & { readonly Type: A; readonly DecodingServices: never },
  options: Pick<SchemaAST.ParseOptions, "onExcessProperty">
): Decode<A> => {
  const decode = decoderOf(bounded(schema.ast))
  return (input, left) => decode(input, { errors: "all", ...options, [bounds]: left } as BoundedOptions) as Effect.Effect<A, SchemaIssue.Issue>
}

const decoderOf = (ast: SchemaAST.AST) => SchemaParser.decodeUnknownEffect(Schema.make<Schema.Codec<unknown>>(ast))

/** Faults describe the JSON that is expected, not the name of a type. */
const bounded = (ast: SchemaAST.AST): SchemaAST.AST =>
  SchemaAST.resolveIdentifier(ast) === undefined ? boundedNode(ast) : Schema.make<Schema.Codec<unknown>>(boundedNode(ast)).annotate({ identifier: undefined }).ast

const boundedNode = (ast: SchemaAST.AST): SchemaAST.AST => {
  // a transformation decodes its own input; its inner schema stays unchanged
  if (ast.encoding !== undefined) return ast
  switch (ast._tag) {
    case "Arrays":
      return new SchemaAST.Arrays(ast.isMutable, ast.elements.map(bounded), ast.rest.map(boundedItem), ast.annotations, ast.checks, undefined, ast.context)
    case "Objects":
      return new SchemaAST.Objects(
        ast.propertySignatures.map(({ name, type }) => new SchemaAST.PropertySignature(name, bounded(type))),
        ast.indexSignatures.map(({ parameter, type }) => new SchemaAST.IndexSignature(parameter, boundedItem(type))),
        ast.annotations,
        ast.checks,
        undefined,
        ast.context
      )
    case "Union":
      return new SchemaAST.Union(ast.types.map(bounded), ast.options, ast.annotations, ast.checks, undefined, ast.context)
    default:
      return ast
  }
}

const boundedItem = (ast: SchemaAST.AST): SchemaAST.AST => {
  const decode = decoderOf(bounded(ast))
  return new SchemaAST.Declaration([], () => (input, _, options: BoundedOptions) => {
    const left = options[bounds]
    if (left === undefined) return decode(input, options)
    if (left.faultsLeft <= 0) return Effect.succeed(input)
    const decoded = () => counted(left, () => decode(input, options))
    return left.pace?.isDue() === true ? Effect.flatMap(left.pace.turn, decoded) : decoded()
  })
}

/** Nested lists have already counted their faults, so the count starts from the value before this item. */
const counted = <A>(left: DecodingBounds, decode: () => Effect.Effect<A, SchemaIssue.Issue>): Effect.Effect<A, SchemaIssue.Issue> => {
  const before = left.faultsLeft
  const decoded = decode()
  const exit = Exit.isExit(decoded) ? decoded as Exit.Exit<A, SchemaIssue.Issue> : undefined
  if (exit !== undefined && Exit.isSuccess(exit)) return decoded
  const count = (issue: SchemaIssue.Issue): void => {
    left.faultsLeft = Math.min(left.faultsLeft, before - faultsIn(issue))
  }
  if (exit === undefined) return Effect.tapError(decoded, (issue) => Effect.sync(() => count(issue)))
  const failed = exit.cause.reasons.find(Cause.isFailReason)
  if (failed !== undefined) count(failed.error)
  return decoded
}

const faultsIn = (issue: SchemaIssue.Issue): number => {
  switch (issue._tag) {
    case "Composite":
    case "AnyOf":
      return Math.max(1, issue.issues.reduce((sum, inner) => sum + faultsIn(inner), 0))
    case "Pointer":
    case "Encoding":
    case "Filter":
      return faultsIn(issue.issue)
    default:
      return 1
  }
}
