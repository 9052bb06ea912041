import { assert, describe, it } from "@effect/vitest"
import { statementNames } from "../../src/client/PgNames.ts"

describe("a statement's name", () => {
  it("is assigned at the second use and stays", () => {
    const name = statementNames()
    assert.isUndefined(name("SELECT 1"))
    const given = name("SELECT 1")
    assert.isString(given)
    assert.strictEqual(name("SELECT 1"), given)
  })

  it("is the same in another process and different for another text", () => {
    const [one, other] = [statementNames(), statementNames()]
    for (const names of [one, other]) for (const text of ["SELECT 1", "SELECT 2"]) names(text)
    assert.strictEqual(one("SELECT 1"), other("SELECT 1"))
    assert.notStrictEqual(one("SELECT 1"), one("SELECT 2"))
  })

  it("fits the length limit of Postgres", () => {
    const name = statementNames()
    name("SELECT 1")
    assert.match(name("SELECT 1") ?? "", /^[\w-]{1,63}$/)
  })

  it("is assigned to no more texts than the limit, and not to texts used once", () => {
    const name = statementNames(2)
    for (let index = 0; index < 1000; index++) name(`SELECT ${index}`)
    for (const text of ["a", "a", "b", "b", "c", "c"]) name(text)
    assert.isString(name("a"))
    assert.isString(name("b"))
    assert.isUndefined(name("c"))
  })
})
