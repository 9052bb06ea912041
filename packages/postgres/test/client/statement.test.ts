import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { Sql, type BulkValue } from "../../src/client/index.ts"

const { concat, int8, nothing, raw, statement, tenant, textArray, timestamptz, uuid, value } = Sql

const schema = raw("\"waybill\"")

describe("a statement", () => {
  it("sends values as parameters, and inserts identifiers", () => {
    const find = statement`SELECT doc FROM ${schema}.pickups WHERE number = ${"7"} AND is_test = ${false}`
    assert.strictEqual(find.text, "SELECT doc FROM \"waybill\".pickups WHERE number = $1 AND is_test = $2")
    assert.deepStrictEqual(find.values, ["7", false])
  })

  it("casts what has a type", () => {
    const names = textArray(["A"])
    const { text, values } = statement`SELECT ${uuid("u")}, ${int8(1)}, ${names}, ${textArray(undefined)}, ${timestamptz(0)}`
    assert.strictEqual(text, "SELECT $1::uuid, $2::int8, $3::text[], $4::text[], $5::text::timestamptz")
    assert.deepStrictEqual(values, ["u", 1, names, null, "1970-01-01T00:00:00.000+00"])
  })

  it("makes one parameter of a value that is named, and of an array, wherever they are", () => {
    const [id, names] = [value("S"), textArray(["A"])]
    const seen = statement`account = ANY (${names}) AND id = ${id}`
    const find = statement`SELECT ${id} WHERE ${names} IS NULL OR ${seen} OR ${"S"} = ${id}`
    assert.strictEqual(find.text, "SELECT $1 WHERE $2::text[] IS NULL OR account = ANY ($2::text[]) AND id = $1 OR $3 = $1")
    assert.deepStrictEqual(find.values, ["S", names, "S"])
  })

  it("has its tenant as the first parameter, wherever it is", () => {
    const inner = statement`tenant_id = ${tenant("t")}`
    const find = statement`SELECT ${"a"} WHERE ${inner} AND shipment_id = ${"S"} AND other = ${tenant("t")}`
    assert.strictEqual(find.text, "SELECT $2 WHERE tenant_id = $1 AND shipment_id = $3 AND other = $1")
    assert.deepStrictEqual(find.values, ["t", "a", "S"])
  })

  it("refuses a second tenant", () => {
    assert.throws(() => statement`SELECT ${tenant("t")}, ${tenant("u")}`.text, "A statement has one tenant. Send one statement for each.")
  })

  it("joins optional parts", () => {
    const where = (number: string | undefined) => concat([statement`a = ${1}`, number === undefined ? nothing : statement`AND b = ${number}`])
    assert.strictEqual(statement`SELECT WHERE ${where("7")}`.text, "SELECT WHERE  a = $1 AND b = $2")
    assert.strictEqual(statement`SELECT WHERE ${where(undefined)}`.text, "SELECT WHERE  a = $1 ")
    assert.deepStrictEqual(where("7").values, [1, "7"])
  })

  it("keeps text that looks like a placeholder, and dollars in values", () => {
    const { text, values } = statement`SELECT '$1', ${raw("'$2'")}, ${"$3"}`
    assert.strictEqual(text, "SELECT '$1', '$2', $1")
    assert.deepStrictEqual(values, ["$3"])
  })
})

type Part = { readonly kind: number; readonly at: number }

const Parts = Arbitrary.array(Arbitrary.map(Arbitrary.schema(Schema.Int), (int): Part => ({ kind: Math.abs(int % 6), at: Math.abs(Math.trunc(int / 6) % 4) })))

/** A statement of random parts, nested at random; `salt` changes its values and nothing else. */
const random = (parts: ReadonlyArray<Part>, salt: string) => {
  const named = [0, 1, 2, 3].map((at) => value(`${salt} ${at}`))
  const arrays = [0, 1, 2, 3].map((at) => textArray([`${salt} array ${at}`]))
  /** The value of each placeholder, in the order of the text. */
  const meant: Array<BulkValue> = []
  const built = parts.reduce((left, { at, kind }) => {
    const part = [value(`${salt} new`), named[at]!, arrays[at]!, salt, tenant(salt), uuid(salt)][kind]!
    meant.push(part instanceof Sql.Parameter ? part.value : part)
    return kind % 2 === 0 ? statement`${left} ${part}` : statement`${left}${statement`(${part})`}`
  }, nothing)
  return { built, meant, named }
}

/** The values of the placeholders, in the order of the text. */
const read = ({ text, values }: Sql.Statement) => [...text.matchAll(/\$(\d+)/g)].map(([, number]) => values[Number(number) - 1])

describe("any statement", () => {
  it.prop("has at each place the value that was put there", { parts: Parts }, ({ parts }) => {
    const { built, meant } = random(parts, "salt")
    assert.deepStrictEqual(read(built), meant)
  })

  it.prop("numbers its parameters without gaps and sends each once", { parts: Parts }, ({ parts }) => {
    const { built, named } = random(parts, "salt")
    const numbers = new Set([...built.text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)))
    assert.deepStrictEqual([...numbers].toSorted((a, b) => a - b), built.values.map((_, index) => index + 1))
    for (const each of named) assert.isAtMost(built.values.filter((sent) => sent === each.value).length, 1)
  })

  it.prop("has the same text with other values", { parts: Parts }, ({ parts }) => {
    assert.strictEqual(random(parts, "one").built.text, random(parts, "another").built.text)
  })
})
