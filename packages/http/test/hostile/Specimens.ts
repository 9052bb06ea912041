/** Generates JSON that a schema accepts: every published shape, not only those of the samples. */
import type { SeededRandom } from "@waybill/conformance/fixtures"
import { Schema, SchemaAST } from "effect"

export interface SpecimenOptions {
  /** Includes every optional member, and null only where required. */
  readonly full?: boolean
  /** A text to use wherever it is valid. */
  readonly text?: () => string
}

type Specimen = (random: SeededRandom, options?: SpecimenOptions) => unknown

type Make = (random: SeededRandom, options: SpecimenOptions) => unknown

/** Every string schema accepts one of these; add one here if not. */
const texts = [
  "2026-11-20T08:15:00-06:00", "2026-11-20", "2026-11-20T08:15:00.000", "08:30:00", "https://receiver.example/hook", "USD", "USA", "75201", "A1", "12.50",
  "6175550100", "-6", "7", "PFC1", "0b8f2c1e-6f0a-7c3d-9a55-2d1f0c9e8b77", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "True", "LB", "driver", "Deliver By Date",
  "Enroute", "En Route", "320-1", "Farm-1", "PRO", "PickupStatus", "acme.example", "Zoë Müller", "船荷 9", "😀", "", "a b", "x".repeat(40), "I-1", "AR1", "PU01",
  "#0b5fff", "edi@shipper.example"
] as const

const numbers = [0, 1, 2, 7, 12.5, 40, 100, 2026, 100_000, -1, -12.5] as const

const made = new WeakMap<SchemaAST.AST, Make>()

/** Built once per schema; generates values that its encoded side accepts. */
export const specimenOf = (schema: Schema.Top): Specimen => {
  const make = makeOf(SchemaAST.toEncoded(schema.ast))
  return (random, options = {}) => make(random, options)
}

const makeOf = (ast: SchemaAST.AST): Make => {
  const known = made.get(ast)
  if (known !== undefined) return known
  // A recursive schema finds this while it is built.
  made.set(ast, (random, options) => built(random, options))
  const admits = Schema.is(Schema.make<Schema.Codec<unknown>>(ast))
  const plain = plainOf(ast, admits)
  const built: Make = ast.checks === undefined ? plain : (random, options) => {
    for (let tries = 0; tries < 20; tries++) {
      const value = plain(random, options)
      if (admits(value)) return value
    }
    throw new Error(`Specimens make nothing that this schema takes: ${describe(ast)}`)
  }
  made.set(ast, built)
  return built
}

const describe = (ast: SchemaAST.AST): string => `${ast._tag} ${JSON.stringify(ast.annotations ?? {})} ${JSON.stringify(ast.checks?.map((check) => check.annotations) ?? [])}`

const plainOf = (ast: SchemaAST.AST, admits: (value: unknown) => boolean): Make => {
  switch (ast._tag) {
    case "Null":
      return () => null
    case "Literal":
      return () => ast.literal
    case "Boolean":
      return (random) => random.share(0.5)
    case "String":
      return textOf(ast, admits)
    case "Number": {
      const fitting = numbers.filter(admits)
      return (random) => random.pick(fitting)
    }
    case "Union":
      return unionOf(ast.types)
    case "Arrays":
      return arrayOf(ast, admits)
    case "Objects":
      return objectOf(ast)
    case "Unknown":
    case "Any":
      return (random, { text }) => text?.() ?? random.pick([null, 1, "free", { deep: [1, { deeper: true }] }])
    case "Suspend":
      return (random, options) => makeOf(ast.thunk())(random, options)
    default:
      throw new Error(`Specimens know no ${ast._tag}. Teach them in Specimens.ts.`)
  }
}

const textOf = (ast: SchemaAST.AST, admits: (value: unknown) => boolean): Make => {
  const fitting = texts.filter(admits)
  if (fitting.length === 0) throw new Error(`No text of Specimens.ts fits ${describe(ast)}. Add one that does.`)
  return (random, { text }) => {
    const wanted = text?.()
    return wanted !== undefined && admits(wanted) ? wanted : random.pick(fitting)
  }
}

const unionOf = (types: ReadonlyArray<SchemaAST.AST>): Make => {
  const makes = types.map(makeOf)
  const wholesome = types.flatMap((type, at) => type._tag === "Null" ? [] : [makes[at]!])
  // The first of several shapes is the most complete one.
  return (random, options) => (options.full === true ? wholesome[0] ?? makes[0]! : random.pick(makes))(random, options)
}

const arrayOf = (ast: SchemaAST.Arrays, admits: (value: unknown) => boolean): Make => {
  const elements = ast.elements.map(makeOf)
  const rest = ast.rest[0] === undefined ? undefined : makeOf(ast.rest[0])
  return (random, options) => {
    const list = elements.map((make) => make(random, options))
    const more = rest === undefined ? 0 : options.full === true ? 1 : random.below(3)
    for (let count = 0; count < more; count++) list.push(rest!(random, options))
    // Extends a list that is too short.
    for (let tries = 0; rest !== undefined && tries < 3 && !admits(list); tries++) list.push(rest(random, options))
    return list
  }
}

const objectOf = (ast: SchemaAST.Objects): Make => {
  const members = ast.propertySignatures.map(({ name, type }) => ({ name: String(name), make: makeOf(type), nullish: SchemaAST.isOptional(type) }))
  const values = ast.indexSignatures.map(({ type }) => makeOf(type))
  return (random, options) => {
    const object: Record<string, unknown> = {}
    for (const { make, nullish, name } of members) {
      if (nullish && options.full !== true && random.share(0.6)) continue
      object[name] = make(random, options)
    }
    for (const make of values) object["custom"] = make(random, options)
    return object
  }
}
