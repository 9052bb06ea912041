/** Generates the PL/pgSQL that checks an event by the rules of core's schema, so that the rules have one home. */
import { ReportedEvent } from "@waybill/core/transit-events"
import type { SchemaAST } from "effect"

/** A value in the event: SQL that reads it as JSON (null if it is absent) and as text, and SQL of its JSON pointer. */
interface Place {
  readonly json: string
  readonly text: string
  readonly pointer: string
}

interface EventRules {
  /** Variables that the statements use. */
  readonly declarations: ReadonlyArray<string>
  /** Statements that return the first fault of the variable `event`, a JSON object, as `ARRAY[pointer, detail]`. */
  readonly statements: ReadonlyArray<string>
}

/** Throws if the schema has a rule that has no SQL here. */
export const eventRules = (schema: string): EventRules => {
  const rules = new RuleWriter(schema)
  const event: Place = { json: "event", text: "(event #>> '{}')", pointer: "''" }
  rules.lists(ReportedEvent.ast, event)
  rules.members(ReportedEvent.ast as SchemaAST.Objects, event)
  rules.finish()
  return rules
}

class RuleWriter implements EventRules {
  readonly declarations: Array<string> = []
  readonly statements: Array<string> = []
  readonly #schema: string
  #faults: Array<string> = []

  constructor(schema: string) {
    this.#schema = schema
  }

  /** All lists are counted first, like in core: a list that is too long is the only fault that is reported. */
  lists(ast: SchemaAST.AST, place: Place): void {
    if (ast._tag === "Objects") ast.propertySignatures.forEach(({ name, type }) => this.lists(type, memberOf(place, String(name))))
    if (ast._tag !== "Arrays") return
    for (const check of checksOf(ast)) {
      if (check.id !== "effect/schema/isMaxLength") throw unsupported(check.id ?? "list")
      const count = `CASE WHEN jsonb_typeof(${place.json}) = 'array' THEN jsonb_array_length(${place.json}) END`
      this.#fault(`${count} > ${Number(check.payload["maxLength"])}`, place, check.message)
    }
  }

  members(ast: SchemaAST.Objects, place: Place): void {
    for (const { parameter, type } of ast.indexSignatures) {
      if (parameter._tag !== "String" || parameter.checks !== undefined || type._tag !== "Unknown") throw unsupported("record")
    }
    for (const { name, type } of ast.propertySignatures) {
      const member = memberOf(place, String(name))
      if (type.context?.isOptional !== true) this.#fault(`(${member.json}) IS NULL`, member, "This field is required.")
      this.#value(type, member)
    }
  }

  finish(): void {
    if (this.#faults.length === 0) return
    this.statements.push(`fault := CASE\n  ${this.#faults.join("\n  ")}\nEND;\nIF fault IS NOT NULL THEN RETURN fault; END IF;`)
    this.#faults = []
  }

  #value(ast: SchemaAST.AST, place: Place): void {
    if (ast.encoding !== undefined) throw unsupported("transformation")
    switch (ast._tag) {
      case "Unknown":
        return
      case "String":
        return this.#string(ast, place)
      case "Number":
        return this.#number(ast, place)
      case "Union":
        return this.#literals(ast, place)
      case "Objects":
        return this.#object(ast, place)
      case "Arrays":
        return this.#list(ast, place)
      default:
        throw unsupported(ast._tag)
    }
  }

  #string(ast: SchemaAST.String, place: Place): void {
    this.#fault(`jsonb_typeof(${place.json}) <> 'string'`, place, "Expected string.")
    const isInstant = ast.annotations?.["format"] === "date-time"
    for (const { id, message, payload } of checksOf(ast)) {
      if (id === "effect/schema/isMaxLength") {
        const max = Number(payload["maxLength"])
        // core counts UTF-16 units, of which a text has at most as many as bytes
        this.#fault(`octet_length(${place.text}) > ${max} AND ${this.#schema}.utf16_length(${place.text}) > ${max}`, place, message)
      } else if (id === "effect/schema/isPattern") {
        this.#fault(`${place.text} COLLATE "C" !~ ${literal(patternOf(String(payload["source"])))}`, place, message)
      } else if (id === undefined && isInstant) {
        const detail = "Use an RFC 3339 date-time with a UTC offset, such as 2026-11-20T08:15:00-06:00."
        this.#fault(`(${place.json}) IS NOT NULL AND ${this.#schema}.instant_of(${place.text}) IS NULL`, place, detail)
      } else throw unsupported(id ?? "text")
    }
  }

  #number(ast: SchemaAST.Number, place: Place): void {
    this.#fault(`jsonb_typeof(${place.json}) <> 'number'`, place, "Expected number.")
    const number = `${this.#schema}.json_number((${place.json})::numeric)`
    for (const { id, message, payload } of checksOf(ast)) {
      if (id === "effect/schema/isFinite") this.#fault(`abs(${number}) = 'Infinity'`, place, "Expected a finite number.")
      else if (id === "effect/schema/isInt") this.#fault(`trunc(${number}) <> ${number} OR abs(${number}) > ${Number.MAX_SAFE_INTEGER}`, place, "Expected an integer.")
      else if (id === "effect/schema/isBetween") {
        this.#fault(`${number} NOT BETWEEN ${Number(payload["minimum"])} AND ${Number(payload["maximum"])}`, place, message)
      } else throw unsupported(id ?? "number")
    }
  }

  #literals(ast: SchemaAST.Union, place: Place): void {
    const texts = ast.types.map((type) => {
      if (type._tag !== "Literal" || typeof type.literal !== "string") throw unsupported("union")
      return literal(type.literal)
    })
    this.#fault(`jsonb_typeof(${place.json}) <> 'string' OR ${place.text} NOT IN (${texts.join(", ")})`, place, String(ast.annotations?.["message"]))
  }

  #object(ast: SchemaAST.Objects, place: Place): void {
    this.#fault(`jsonb_typeof(${place.json}) <> 'object'`, place, "Expected object.")
    if (ast.propertySignatures.length > 0) this.#present(place, (present) => this.members(ast, present))
    else this.members(ast, place)
  }

  #list(ast: SchemaAST.Arrays, place: Place): void {
    const [item, ...others] = ast.rest
    if (item === undefined || others.length > 0 || ast.elements.length > 0) throw unsupported("tuple")
    this.#fault(`jsonb_typeof(${place.json}) <> 'array'`, place, "Expected array.")
    this.#present(place, (present) => {
      const value = this.#variable("jsonb")
      const index = this.#variable("integer")
      this.statements.push(`FOR ${index} IN 0 .. jsonb_array_length(${present.json}) - 1 LOOP\n${value} := ${present.json}->${index};`)
      this.#value(item, { json: value, text: `(${value} #>> '{}')`, pointer: `${present.pointer} || '/' || ${index}` })
      this.finish()
      this.statements.push("END LOOP;")
    })
  }

  /** Checks a value that may be absent, in a variable of its own. */
  #present(place: Place, write: (present: Place) => void): void {
    this.finish()
    const json = this.#variable("jsonb")
    this.statements.push(`${json} := ${place.json};\nIF ${json} IS NOT NULL THEN`)
    write({ ...place, json })
    this.finish()
    this.statements.push("END IF;")
  }

  #variable(type: string): string {
    const name = `v${this.declarations.length + 1}`
    this.declarations.push(`${name} ${type};`)
    return name
  }

  #fault(condition: string, { pointer }: Place, detail: string): void {
    this.#faults.push(`WHEN ${condition} THEN ARRAY[${pointer}, ${literal(detail)}]`)
  }
}

const memberOf = ({ json, pointer }: Place, name: string): Place => ({
  json: `${json}->${literal(name)}`,
  text: `(${json}->>${literal(name)})`,
  pointer: pointer.endsWith("'") ? `${pointer.slice(0, -1)}/${name}'` : `${pointer} || ${literal(`/${name}`)}`
})

interface Check {
  /** `undefined` for a check that is a function of core. */
  readonly id: string | undefined
  readonly payload: Readonly<Record<string, unknown>>
  readonly message: string
}

const checksOf = (ast: SchemaAST.AST): ReadonlyArray<Check> =>
  (ast.checks ?? []).map((check) => {
    if (check._tag !== "Filter") throw unsupported(check._tag)
    const { message, representation } = (check.annotations ?? {}) as {
      readonly message?: string
      readonly representation?: { readonly id: string; readonly payload: Readonly<Record<string, unknown>> | null }
    }
    return { id: representation?.id, payload: representation?.payload ?? {}, message: message ?? "Not valid." }
  })

/** White space of a JavaScript pattern, and control characters. Unpaired surrogates cannot occur in Postgres' text. */
const classes: Readonly<Record<string, string>> = {
  "\\p{Cc}": "\\u0001-\\u001f\\u007f-\\u009f",
  "\\p{Cs}": "",
  "\\s": "\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"
}

/** The pattern in Postgres' syntax. Groups capture, because some database tools read a question mark as a placeholder. */
const patternOf = (source: string): string => {
  const pattern = source.replaceAll(/\\p\{Cc\}|\\p\{Cs\}|\\s/g, (found) => classes[found]!).replaceAll("(?:", "(")
  if (/\\(?!u[0-9a-f]{4})|\?/.test(pattern)) throw unsupported(`pattern ${source}`)
  return pattern
}

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

const unsupported = (what: string) => new Error(`The schema of transit events has a rule without SQL: ${what}. Add it to EventRulesSql.ts.`)
