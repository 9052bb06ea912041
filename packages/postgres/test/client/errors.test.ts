import { assert, describe, it } from "@effect/vitest"
import { classify } from "../../src/client/index.ts"
import { hostFault, sqlError } from "../../src/client/PgErrors.ts"

describe("a driver's error", () => {
  it.each([
    ["23505", "UniqueViolation"],
    ["23503", "ConstraintError"],
    ["23P01", "ConstraintError"],
    ["40P01", "DeadlockError"],
    ["40001", "SerializationError"],
    ["55P03", "LockTimeoutError"],
    ["57014", "StatementTimeoutError"],
    ["57P01", "ConnectionError"],
    ["57P03", "ConnectionError"],
    ["08006", "ConnectionError"],
    ["53300", "ConnectionError"],
    ["25006", "ConnectionError"],
    ["25P03", "ConnectionError"],
    ["28P01", "AuthenticationError"],
    ["42501", "AuthorizationError"],
    ["42P01", "SqlSyntaxError"],
    ["25P02", "UnknownError"],
    ["22P02", "UnknownError"],
    ["ECONNREFUSED", "ConnectionError"],
    ["ECONNRESET", "ConnectionError"],
    ["EACCES", "UnknownError"]
  ])("with code %s is a %s", (code, reason) => assert.strictEqual(classify({ code, message: "…" })._tag, reason))

  it.each([
    "Connection terminated",
    "Connection terminated unexpectedly",
    "Connection terminated due to connection timeout",
    "timeout expired",
    "timeout exceeded when trying to connect",
    "Client has encountered a connection error and is not queryable",
    "Client was closed and is not queryable",
    "Cannot use a pool after calling end on the pool"
  ])("without a code is known by what pg writes: %s", (message) => assert.strictEqual(classify(new Error(message))._tag, "ConnectionError"))

  it("says that connecting took too long, and not only that the connection ended", () => {
    const message = "Connection terminated due to connection timeout"
    assert.strictEqual(classify(new Error(message, { cause: new Error("Connection terminated unexpectedly") })).message, message)
  })

  it("names the violated constraint", () => {
    const reason = classify({ code: "23505", constraint: "destinations_pkey", message: "duplicate key" })
    assert.strictEqual(reason._tag === "UniqueViolation" && reason.constraint, "destinations_pkey")
  })

  it("is found below the error of Sequelize, with what the host has to correct", () => {
    const sequelize = (message: string, code: string) => sqlError(Object.assign(new Error(message), { name: "SequelizeDatabaseError", sql: "…", parameters: ["secret"], parent: Object.assign(new Error(message), { code }) }))
    assert.strictEqual(sequelize("could not serialize access", "40001").reason._tag, "SerializationError")
    assert.include(hostFault(sequelize("current transaction is aborted", "25P02")), "has failed")
    assert.include(hostFault(sqlError(new Error("commit has been called on this transaction(1), you can no longer use it."))), "is over")
  })

  it("is found inside the error that an ORM wraps around it, without the statement's values", () => {
    const drizzle = Object.assign(new Error("Failed query: insert … params: secret"), {
      cause: Object.assign(new Error("duplicate key value"), { code: "23505", constraint: "destinations_pkey" })
    })
    const prisma = Object.assign(new Error("Raw query failed"), {
      code: "P2010",
      meta: { code: "40001", message: "could not serialize access" }
    })
    assert.strictEqual(classify(drizzle)._tag, "UniqueViolation")
    assert.strictEqual(classify(drizzle).message, "duplicate key value")
    assert.strictEqual(classify(prisma)._tag, "SerializationError")
  })

  it("of a pooler says what to set", () => {
    for (const code of ["42P05", "26000"]) {
      assert.match(classify({ code, message: 'prepared statement "waybill_1" already exists' }).message, /already exists[.] .*PgBouncer in transaction mode.*prepare: false/)
    }
    assert.match(classify({ code: "08P01", message: "unsupported startup parameter: options" }).message, /options[.] Set ignore_startup_parameters/)
    assert.strictEqual(classify({ code: "42601", message: "syntax error" }).message, "syntax error")
  })

  it("without a code is unknown and not retryable", () => {
    for (const nothing of [undefined, null, "text", 7, {}, new Error("")]) {
      assert.strictEqual(classify(nothing)._tag, "UnknownError")
      assert.isFalse(classify(nothing).isRetryable)
    }
  })
})
