/** The database of the server: a configured one, or the embedded one. */
import { monotonicMillis } from "@waybill/core"
import { classify, PgClient, ReadReplica } from "@waybill/postgres"
import { Cause, Clock, Effect, Exit, Layer, Redacted, Schema, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlError } from "effect/sql"
import { databaseLocation, type ServerConfig } from "../config/ServerConfig.ts"
import { runEmbeddedPostgres } from "./EmbeddedPostgres.ts"

export class DatabaseUnusable extends Schema.TaggedError<DatabaseUnusable>()("DatabaseUnusable", { message: Schema.String }) {}

/** Oldest supported Postgres version. */
export const minPostgresVersion = 14

/** How long to wait for a database to start, for example when it starts together with the server. */
const connectTimeoutMillis = 30_000

/** Returns the database URL. An embedded database runs until the scope ends. */
export const openDatabase = Effect.fnUntraced(function*(config: Pick<ServerConfig, "databaseUrl" | "dataDir">) {
  const url = config.databaseUrl ?? (yield* runEmbeddedPostgres(config.dataDir))
  yield* waitUntilReady(url)
  return url
})

/** Fails if the read replica can never be connected to, such as without the TLS that its URL requires. It may be unavailable: the database answers lookups meanwhile. */
export const checkReplicaConnection = ({ readDatabaseUrl }: Pick<ServerConfig, "readDatabaseUrl">): Effect.Effect<void, DatabaseUnusable> =>
  readDatabaseUrl === undefined ? Effect.void : Effect.catch(Effect.asVoid(ask(readDatabaseUrl)), (error) => {
    const fault = connectionFault(error, "WAYBILL_READ_DATABASE_URL")
    return fault === undefined
      ? Effect.void
      : Effect.fail(new DatabaseUnusable({ message: `The read replica at ${databaseLocation(readDatabaseUrl)} ${fault.detail}. ${fault.todo}` }))
  })

/** A connection pool for the database. */
export const poolLayer = (
  config: Pick<ServerConfig, "poolSize" | "statementTimeoutMillis" | "idleTransactionTimeoutMillis">,
  url: Redacted.Redacted
) =>
  PgClient.layer({
    url,
    maxConnections: config.poolSize,
    applicationName: "waybill",
    statementTimeout: config.statementTimeoutMillis,
    idleTransactionTimeout: config.idleTransactionTimeoutMillis,
    spanAttributes: spanAttributesOf(url)
  })

/** The read replica, if one is configured. */
export const replicaLayer = (config: Pick<ServerConfig, "readDatabaseUrl" | "poolSize" | "statementTimeoutMillis">) =>
  config.readDatabaseUrl === undefined ? Layer.empty : ReadReplica.layer({
    url: config.readDatabaseUrl,
    maxConnections: config.poolSize,
    applicationName: "waybill",
    statementTimeout: config.statementTimeoutMillis,
    spanAttributes: spanAttributesOf(config.readDatabaseUrl)
  })

/** Attributes of the database in spans of statements, never its password. */
const spanAttributesOf = (url: Redacted.Redacted): Record<string, unknown> => {
  const { hostname, pathname, port } = new URL(Redacted.value(url))
  return {
    ...(pathname.length > 1 ? { "db.namespace": decodeURIComponent(pathname.slice(1)) } : {}),
    ...(hostname === "" ? {} : { "server.address": hostname, "server.port": Number(port || 5432) })
  }
}

/** Most attempts to build. Connections may break during startup; a database that breaks them every time is unusable. */
const maxBuilds = 10

/** Builds a layer on the database. Starts over when the connection is lost, for example while a database restarts. */
export const buildOn = Effect.fnUntraced(function*<A, E>(url: Redacted.Redacted, layer: Layer.Layer<A, E>) {
  const scope = yield* Effect.scope
  for (let attempt = 1;; attempt++) {
    const own = yield* Scope.fork(scope)
    const built = yield* Effect.exit(Layer.build(layer).pipe(Scope.provide(own)))
    if (Exit.isSuccess(built)) return built.value
    yield* Scope.close(own, built)
    const error = Cause.squash(built.cause)
    const refused = missingPrivilege(error, url)
    if (refused !== undefined) return yield* refused
    if (attempt === maxBuilds || Cause.hasInterrupts(built.cause) || !isLostConnection(error)) return yield* built
    yield* Effect.logWarning(`Database connection to ${databaseLocation(url)} lost during the start. Starting again.`)
    yield* waitUntilReady(url)
  }
})

/** What to do when the user of the database may not do what is needed; `undefined` for other errors. */
export const missingPrivilege = (error: unknown, url: Redacted.Redacted): DatabaseUnusable | undefined =>
  error instanceof SqlError.SqlError && error.reason._tag === "AuthorizationError"
    ? new DatabaseUnusable({ message: `The user in WAYBILL_DATABASE_URL lacks a privilege at ${databaseLocation(url)}: ${driverMessage(error)}. ${privilegeHint}` })
    : undefined

export const privilegeHint = "Grant it, or give the output of waybill migrate --print to a user who may create the tables."

const isLostConnection = (error: unknown): boolean =>
  (error instanceof SqlError.SqlError ? error.reason : classify(error))._tag === "ConnectionError"

const waitUntilReady = Effect.fnUntraced(function*(url: Redacted.Redacted) {
  const place = databaseLocation(url)
  const until = (yield* monotonicMillis) + connectTimeoutMillis
  let loggedAt = -Infinity
  for (;;) {
    const result = yield* Effect.match(ask(url), { onSuccess: (answer) => answer, onFailure: (error) => error })
    if ("version" in result) {
      if (result.version < minPostgresVersion * 10_000) {
        return yield* new DatabaseUnusable({ message: `The Postgres at ${place} is version ${Math.floor(result.version / 10_000)}. Waybill needs ${minPostgresVersion} or newer.` })
      }
      return yield* checkClock(place, result.now)
    }
    const why = driverMessage(result)
    const fault = connectionFault(result, "WAYBILL_DATABASE_URL")
    if (fault !== undefined) return yield* new DatabaseUnusable({ message: `The database at ${place} ${fault.detail}. ${fault.todo}` })
    if (result.reason._tag !== "ConnectionError") {
      return yield* new DatabaseUnusable({ message: `The database at ${place} refused the connection: ${why}. Check WAYBILL_DATABASE_URL.` })
    }
    const now = yield* monotonicMillis
    if (now >= until) {
      return yield* new DatabaseUnusable({
        message: `The database at ${place} did not answer within ${connectTimeoutMillis / 1000} seconds: ${why}. Start it, or correct WAYBILL_DATABASE_URL.`
      })
    }
    if (now - loggedAt >= 5_000) {
      loggedAt = now
      yield* Effect.logWarning(`Database at ${place} does not answer: ${why}. Retrying for ${Math.ceil((until - now) / 1000)} seconds.`)
    }
    yield* Effect.sleep(500)
  }
})

/** A day: records have the time of the process that wrote them, and are removed by that of the database. */
const mostClockMillis = 86_400_000

const checkClock = Effect.fnUntraced(function*(place: string, theirs: number) {
  const own = yield* Clock.currentTimeMillis
  if (Math.abs(own - theirs) < mostClockMillis) return
  yield* new DatabaseUnusable({
    message: `The clock of this machine is at ${new Date(own).toISOString()}, and that of the database at ${place} at ${new Date(theirs).toISOString()}. What is stored would be removed too early, or not when it is due. Set the clock that is wrong.`
  })
})

/** The driver's error when the database refuses to encrypt. It has no code. */
const noTlsMessage = "The server does not support TLS"

export interface ConnectionFault {
  /** About the database, without a subject. */
  readonly detail: string
  readonly todo: string
}

/** Why no connection is possible, however long one waits: it cannot be encrypted as the URL in this variable requires, or a pooler refuses its settings. */
export const connectionFault = (error: SqlError.SqlError, variable: "WAYBILL_DATABASE_URL" | "WAYBILL_READ_DATABASE_URL"): ConnectionFault | undefined => {
  const why = driverMessage(error)
  if (why === noTlsMessage) return { detail: `does not offer TLS, which ${variable} requires`, todo: "Switch it on there (ssl = on), or remove sslmode from the URL." }
  const [refused] = /unsupported (options )?startup parameter[^.]*/.exec(why) ?? []
  if (refused !== undefined) {
    return { detail: `is a pooler that refuses the settings of connections: ${refused}`, todo: "In PgBouncer, set ignore_startup_parameters = options and session mode, and set the timeouts for the user: see docs/operating/scale.md." }
  }
  const todo = certificateHint(error, variable)
  return todo === undefined ? undefined : { detail: `has a certificate that is refused: ${why}`, todo }
}

/** What to do about a TLS certificate that this process does not accept. */
const certificateHint = ({ reason: { cause } }: SqlError.SqlError, variable: string): string | undefined => {
  for (let error = cause, depth = 0; typeof error === "object" && error !== null && depth < 5; error = (error as { readonly cause?: unknown }).cause, depth++) {
    const { code } = error as { readonly code?: unknown }
    if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return `Use the host name that is in the certificate in ${variable}, or sslmode=verify-ca.`
    if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID") return "Renew it, and check the clock of this machine."
    if (typeof code === "string" && /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)|CERT_UNTRUSTED/.test(code)) {
      return `Name its certificate authority in ${variable}: sslmode=verify-full&sslrootcert=/path/to/ca.pem. sslmode=require encrypts without checking it.`
    }
  }
  return undefined
}

/** Creates a new connection for each attempt, because a pool that failed to connect cannot be used again. */
const ask = (url: Redacted.Redacted): Effect.Effect<{ readonly version: number; readonly now: number }, SqlError.SqlError> =>
  Effect.gen(function*() {
    const sql = yield* PgClient.openLater({ url, maxConnections: 1, connectTimeout: "5 seconds", applicationName: "waybill" })
    const [row] = yield* sql<{ version: number; now: number }>`
      SELECT current_setting('server_version_num')::int AS version, (extract(epoch FROM now()) * 1000)::float8 AS now
    `
    return row!
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))

/** The error message of the database driver, without the SqlError around it. */
export const driverMessage = ({ reason: { _tag, cause, message } }: SqlError.SqlError): string => {
  const messages = cause instanceof AggregateError ? cause.errors.map((each) => each instanceof Error ? each.message : String(each)) : [message]
  return (messages.find((text) => text !== "") ?? _tag).replace(/\.$/, "")
}
