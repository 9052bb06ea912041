/** Statements as tagged templates: values become parameters, and statements inside a template are inserted. */
import { arrayTypes, type BulkValue, PgArray, type PgArrayType } from "./PgBulk.ts"

/** An argument of a template: a value, a parameter, or another statement. */
export type StatementPart = BulkValue | Parameter | Statement

/** An operand of a statement: a parameter, or SQL such as a column. */
export type Expression = Parameter | PgArray | Statement

/**
 * A value with the text around its placeholder, such as `$::uuid`. Where the same object is used several times, it is one parameter
 * of the statement.
 */
export class Parameter {
  readonly value: BulkValue
  readonly form: string

  constructor(value: BulkValue, form: string) {
    this.value = value
    this.form = form
  }
}

/** A parameter without a cast, for a value that is used several times. */
export const value = (value: BulkValue): Parameter => new Parameter(value, "$")

class Tenant extends Parameter {}

/**
 * The tenant of a statement. It is always `$1`, wherever it is used first, so that a plan shows whether a statement stays within its
 * tenant. A statement has one tenant: another one fails it.
 */
export const tenant = (tenantId: string): Parameter => new Tenant(tenantId, "$")

/** A text with `$1` placeholders, and its values. */
export class Statement {
  private readonly strings: ReadonlyArray<string>
  private readonly parts: ReadonlyArray<StatementPart>
  private compiled: Compiled | undefined = undefined

  constructor(strings: ReadonlyArray<string>, parts: ReadonlyArray<StatementPart>) {
    this.strings = strings
    this.parts = parts
  }

  /** The same string for every statement that differs in values only: statements are prepared by their text. */
  get text(): string {
    return (this.compiled ??= compile(this)).text
  }

  get values(): ReadonlyArray<BulkValue> {
    return (this.compiled ??= compile(this)).values
  }

  /** Adds the parts of the text, in order. */
  collect(shape: Shape): void {
    shape.tokens.push(this.strings)
    for (const part of this.parts) {
      if (part instanceof Statement) part.collect(shape)
      else shape.add(part)
    }
  }

  /** Its text. `placeholder` returns the next one. */
  write(placeholder: () => string): string {
    let text = this.strings[0]!
    this.parts.forEach((part, index) => {
      text += (part instanceof Statement ? part.write(placeholder) : placeholder()) + this.strings[index + 1]!
    })
    return text
  }
}

/** ``statement`SELECT doc FROM ${schema}.pickups WHERE tenant_id = ${tenant(tenantId)}` `` */
export const statement = (strings: TemplateStringsArray, ...parts: ReadonlyArray<StatementPart>): Statement => new Statement(strings, parts)

/** SQL that is no value, such as an identifier; never text of a caller. Each text is kept, so there must be few. */
export const raw = (text: string): Statement => {
  const known = raws.get(text) ?? new Statement([text], [])
  raws.set(text, known)
  return known
}

const raws = new Map<string, Statement>()

/**
 * An array whose length the planner ignores: it assumes ten elements. Otherwise it makes a new plan for a prepared statement whenever an array is
 * shorter, which takes longer than running it. Of several arrays that are unnested together the first is enough.
 */
export const ofAnyLength = (array: Expression): Statement => statement`(SELECT ${array})`

/** For the optional part of a statement. */
export const nothing = raw("")

/** Statements one after the other. */
export const concat = (parts: ReadonlyArray<Statement>): Statement => parts.reduce((left, right) => statement`${left} ${right}`, nothing)

interface Compiled {
  readonly text: string
  readonly values: ReadonlyArray<BulkValue>
}

type Value = Exclude<StatementPart, Statement>

const arrayForms = Object.fromEntries(arrayTypes.map((type) => [type, `$::${type}[]`])) as Record<PgArrayType, string>

const formOf = (part: Value): string => part instanceof Parameter ? part.form : part instanceof PgArray ? arrayForms[part.type] : "$"

/** The parameters of a statement, and the tokens that its text depends on. */
class Shape {
  /** The strings of templates; for each parameter its form at its first place, and its index at later ones. */
  readonly tokens: Array<unknown> = []
  readonly parameters: Array<Value> = []
  tenant: Tenant | undefined = undefined

  add(part: Value): void {
    if (part instanceof Tenant) {
      this.tenant ??= part
      if (this.tenant.value !== part.value) throw new Error("A statement has one tenant. Send one statement for each.")
      this.tokens.push(Tenant)
      return
    }
    const index = typeof part === "object" && part !== null ? this.parameters.indexOf(part) : -1
    if (index >= 0) {
      this.tokens.push(index)
      return
    }
    this.tokens.push(formOf(part))
    this.parameters.push(part)
  }

  /** Returns the placeholders in the order of the text. */
  placeholders(): () => string {
    const offset = this.tenant === undefined ? 1 : 2
    let token = 0
    let parameter = 0
    return () => {
      while (Array.isArray(this.tokens[token])) token++
      const next = this.tokens[token++]
      if (next === Tenant) return "$1"
      const index = typeof next === "number" ? next : parameter++
      return formOf(this.parameters[index]!).replace("$", () => `$${index + offset}`)
    }
  }
}

/** Texts by their tokens: one step for each token. */
interface Texts {
  readonly next: Map<unknown, Texts>
  text: string | undefined
}

const newTexts = (): Texts => ({ next: new Map(), text: undefined })
const texts = newTexts()

const compile = (statement: Statement): Compiled => {
  const shape = new Shape()
  statement.collect(shape)
  let place = texts
  for (const token of shape.tokens) {
    const next = place.next.get(token) ?? newTexts()
    place.next.set(token, next)
    place = next
  }
  place.text ??= statement.write(shape.placeholders())
  const values = shape.parameters.map((part) => part instanceof Parameter ? part.value : part)
  return { text: place.text, values: shape.tenant === undefined ? values : [shape.tenant.value, ...values] }
}
