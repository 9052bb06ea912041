import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import type { PgClient } from "../../src/client/index.ts"
import { sessionConfig } from "../../src/client/PgAddress.ts"

const configOf = (url: string, options: Partial<PgClient.PgPoolConfig> = {}) => sessionConfig({ url: Redacted.make(url), ...options })

describe("the options of a connection", () => {
  it("come from the URL", () => {
    const { database, host, password, port, username } = configOf("postgres://someone:pa%40ss@db.internal:5433/freight")
    assert.deepStrictEqual([host, port, username, database], ["db.internal", 5433, "someone", "freight"])
    assert.strictEqual(Redacted.value(password as Redacted.Redacted), "pa@ss")
  })

  it("include a directory of Unix sockets", () => {
    assert.strictEqual(configOf("postgres://someone@/freight?host=/var/run/postgresql").host, "/var/run/postgresql")
  })

  it("read TLS modes as libpq does", () => {
    const ssl = (mode: string) => configOf(`postgres://db/freight?sslmode=${mode}`).ssl
    assert.strictEqual(ssl("disable"), false)
    assert.deepEqual(ssl("require"), { rejectUnauthorized: false })
    assert.deepEqual(ssl("verify-full"), {})
    assert.deepEqual(ssl("no-verify"), { rejectUnauthorized: false }, "pg's own mode")
    assert.isUndefined(configOf("postgres://db/freight").ssl)
    assert.strictEqual(configOf("postgres://db/freight", { ssl: true }).ssl, true)
    assert.strictEqual(configOf("postgres://db/freight?sslmode=disable", { ssl: true }).ssl, false, "the URL takes precedence")
  })

  it("name the application, the isolation and the timeouts, but no settings of the planner, unless the URL does", () => {
    const plain = configOf("postgres://db/freight", { applicationName: "ours", statementTimeout: "2 seconds" })
    assert.strictEqual(plain.applicationName, "ours")
    assert.strictEqual(plain.startupOptions, "-c default_transaction_isolation=read\\ committed -c statement_timeout=2000 -c idle_in_transaction_session_timeout=10000")
    const own = configOf("postgres://db/freight?application_name=theirs&options=-c%20geqo%3Doff", { applicationName: "ours" })
    assert.deepStrictEqual([own.applicationName, own.startupOptions], ["theirs", "-c geqo=off"])
  })

  it("prepare nothing behind a proxy, and send it only what was asked for", () => {
    const plain = configOf("postgres://db/freight", { prepare: false })
    assert.deepStrictEqual([plain.prepare, plain.startupOptions, plain.startupParameters], [false, undefined, undefined])
    const limited = configOf("postgres://db/freight", { prepare: false, statementTimeout: "2 seconds" })
    assert.deepStrictEqual(limited.startupParameters, { statement_timeout: "2000" })
  })
})
