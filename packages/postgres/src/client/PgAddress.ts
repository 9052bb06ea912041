/** Options of a session of `@effect/sql-pg`, from a connection URL and the options of Waybill's pool. */
import type * as SqlPg from "@effect/sql-pg/PgConnection"
import * as Duration from "effect/Duration"
import * as Redacted from "effect/Redacted"
import type { ConnectionOptions } from "node:tls"
import { parse } from "pg-connection-string"
import type { PgPoolConfig } from "./PgClient.ts"

export interface SessionConfig extends SqlPg.Config {
  readonly connectTimeout: Duration.Input
}

/**
 * The URL is read by pg's parser, with `sslrootcert`, `sslcert`, `sslkey`. `sslmode` means what it means to libpq, so that one URL means the
 * same for Waybill, `psql` and `pg_dump`: `require` encrypts and checks no certificate, `verify-full` does. Like in pg, the URL takes precedence,
 * and environment variables provide missing values.
 */
export const sessionConfig = (config: PgPoolConfig): SessionConfig => {
  const { env } = process
  const text = Redacted.value(config.url)
  // pg's own mode, which libpq does not know, and a URL that chooses by itself
  const url = parse(text, { useLibpqCompat: !/[?&](sslmode=no-verify|uselibpqcompat=)/.test(text) })
  const password = url.password || env["PGPASSWORD"]
  const ssl = url.ssl ?? config.ssl
  const isPlain = config.prepare === false
  return {
    host: url.host || env["PGHOST"],
    port: Number(url.port || env["PGPORT"] || 5432),
    username: url.user || env["PGUSER"],
    password: password === undefined ? undefined : Redacted.make(password),
    database: url.database || env["PGDATABASE"],
    ssl: typeof ssl === "string" ? ssl !== "" : ssl as boolean | ConnectionOptions | undefined,
    applicationName: url.application_name ?? config.applicationName ?? "waybill",
    connectTimeout: config.connectTimeout ?? "10 seconds",
    keepAlive: "10 seconds",
    maxMessageSize: largestMessage,
    prepare: !isPlain,
    preparedStatementCacheSize: mostPrepared,
    startupOptions: url.options ?? (isPlain ? undefined : settings(config).join(" ")),
    startupParameters: isPlain && config.statementTimeout !== undefined
      ? { statement_timeout: String(millis(config.statementTimeout)) }
      : undefined
  }
}

/** Maximum number of prepared statements in a session, which is the number of names. */
export const mostPrepared = 500

/** A row may be as large as Postgres allows. */
export const largestMessage = 2 ** 30

const defaultStatementTimeout: Duration.Input = "45 seconds"

/**
 * A runaway statement must not hold its locks and its connection forever. Waybill never waits between two statements of a
 * transaction, so an idle transaction means that the process vanished; without a timeout its locks would stay for hours.
 */
const settings = ({ idleTransactionTimeout, statementTimeout }: PgPoolConfig): ReadonlyArray<string> => [
  // of single statements; transactions set their own
  "-c default_transaction_isolation=read\\ committed",
  `-c statement_timeout=${millis(statementTimeout ?? defaultStatementTimeout)}`,
  `-c idle_in_transaction_session_timeout=${millis(idleTransactionTimeout ?? "10 seconds")}`
]

/** The server cancels first, so that the connection stays usable. */
export const answerMillisOf = ({ answerTimeout, statementTimeout }: PgPoolConfig): number =>
  answerTimeout === undefined ? Math.max(60_000, millis(statementTimeout ?? defaultStatementTimeout) + 15_000) : millis(answerTimeout)

const millis = (input: Duration.Input): number => Duration.toMillis(input)
