/** Database checks: version, durability, tables, privileges, indexes, locks, clock, whether its secrets can be opened, and the delivery backlog. */
import { MailStore, type StorageError } from "@waybill/core"
import { DeliveryQueue, placeOfSecret, Sealer } from "@waybill/core/delivery"
import { faultyIndexes, MigrationRefused, migrations, pending, PgClient, quoteSchema, replicaLag, replicaRefusal, StoragePostgres } from "@waybill/postgres"
import { Cause, Context, Effect, Exit, Layer, type Redacted } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { databaseLocation, type ServerConfig } from "../../config/ServerConfig.ts"
import { connectionFault, driverMessage, minPostgresVersion, privilegeHint } from "../../database/Database.ts"
import { lastAddress } from "../../database/EmbeddedPostgres.ts"
import { checkMailServer } from "../../mail/SmtpMailer.ts"
import { counted } from "../shared/Output.ts"
import { broken, type Finding, type NamedFinding, ok, skipped, warning } from "./Finding.ts"
import { sealingKeysOf } from "./MachineFindings.ts"

/** The checks, in the order of the report. */
export const databaseChecks = ["database", "writes", "durability", "read replica", "migrations", "privileges", "indexes", "locks", "clock", "secrets", "queue", "e-mail"] as const

/** What was found, and why the other checks were skipped. */
const report = (found: { readonly [Name in typeof databaseChecks[number]]?: Finding }, why = ""): ReadonlyArray<NamedFinding> =>
  databaseChecks.map((name) => [name, found[name] ?? skipped(`not checked: ${why}`)])

const withoutDatabase = (database: Finding) => report({ database }, "the database is not ready")

export const databaseFindings = Effect.fnUntraced(function*(config: ServerConfig) {
  const isEmbedded = config.databaseUrl === undefined
  const url = config.databaseUrl ?? (yield* Effect.orElseSucceed(lastAddress(config.dataDir), () => undefined))
  if (url === undefined) return withoutDatabase(warning("the embedded Postgres was never started", "Start waybill serve once; it creates the database."))
  return yield* Effect.scoped(Effect.flatMap(Layer.build(connection(url)), (context) => Effect.provideContext(lookInto(config, url), context))).pipe(
    Effect.catch((error: SqlError.SqlError) =>
      Effect.succeed(withoutDatabase(
        isEmbedded
          ? warning(`the embedded Postgres does not run: ${driverMessage(error)}`, "It runs with the server: start waybill serve, then repeat this command.")
          : unreachable(url, error)
      )))
  )
})

const unreachable = (url: Redacted.Redacted, error: SqlError.SqlError): Finding => {
  const why = driverMessage(error)
  if (isFull.test(why)) return broken(`the Postgres at ${databaseLocation(url)} has no free connection: ${why}`, "Raise its max_connections, or the limit of this role, or lower WAYBILL_POOL_SIZE.")
  if (error.reason._tag === "AuthorizationError") return broken(`the user in WAYBILL_DATABASE_URL lacks a privilege at ${databaseLocation(url)}: ${why}`, privilegeHint)
  const fault = connectionFault(error, "WAYBILL_DATABASE_URL")
  const detail = fault?.detail ?? `${error.reason._tag === "ConnectionError" ? "does not answer" : "refuses"}: ${why}`
  return broken(`the Postgres at ${databaseLocation(url)} ${detail}`, fault?.todo ?? "Start it, or correct WAYBILL_DATABASE_URL: address, user, password, and whether this machine may connect.")
}

const isFull = /too many (clients|connections)|connection slots are reserved/

const connection = (url: Redacted.Redacted) => PgClient.layer({ url, maxConnections: 2, connectTimeout: "5 seconds", statementTimeout: "10 seconds", applicationName: "waybill doctor" })

const lookInto = Effect.fnUntraced(function*(config: ServerConfig, url: Redacted.Redacted) {
  const sql = yield* SqlClient.SqlClient
  const asked = Date.now()
  const [row] = yield* sql<{ version: number; text: string; now: number }>`
    SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS text,
           (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now
  `
  const { now, text, version } = row!
  const place = config.databaseUrl === undefined ? "the embedded one" : databaseLocation(url)
  if (version < minPostgresVersion * 10_000) return withoutDatabase(broken(`Postgres ${text} at ${place}`, `Waybill needs ${minPostgresVersion} or newer: upgrade it.`))
  const described = `Postgres ${text.split(" ")[0]}, ${place}`
  const database = (yield* isShared(url))
    ? warning(`${described}, through a pooler that shares connections between transactions`, "Use session mode, which LISTEN and prepared statements need: see docs/operating/scale.md.")
    : ok(described)
  // The server's time is compared with the middle of the round trip.
  const clock = clockFinding(Math.round(now - (asked + Date.now()) / 2))
  const found = {
    database,
    writes: yield* writesFinding,
    durability: yield* durabilityFinding,
    "read replica": yield* replicaFinding(config),
    migrations: yield* tablesFinding(config),
    locks: yield* locksFinding,
    clock
  }
  if (found.migrations.result !== "ok") return report(found, "the tables are not ready")
  const privileges = yield* privilegesFinding(config)
  if (privileges.result !== "ok") return report({ ...found, privileges }, "the user lacks privileges")
  return report({ ...found, privileges, indexes: yield* indexesFinding(config), secrets: yield* secretsFinding(config), queue: yield* queueFinding(config), "e-mail": yield* mailFinding(config) })
})

/** Whether another connection is served by the session of one that is still open, as by PgBouncer in transaction mode. A pooler that is busy may not show it. */
const isShared = Effect.fnUntraced(function*(url: Redacted.Redacted) {
  const session = (sql: SqlClient.SqlClient) => sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`
  const [mine] = yield* session(yield* SqlClient.SqlClient)
  const [other] = yield* Effect.scoped(Effect.flatMap(Layer.build(connection(url)), (context) => session(Context.get(context, SqlClient.SqlClient))))
  return mine!.pid === other!.pid
})

/** A megabyte in a temporary table, which needs space on the disk and a database that is not read-only, and leaves nothing. */
const writesFinding = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [may] = yield* sql<{ temporary: boolean }>`SELECT has_database_privilege(current_database(), 'TEMP') AS temporary`
  if (!may!.temporary) return skipped("not checked: this user may not create temporary tables")
  return yield* sql`CREATE TEMPORARY TABLE waybill_doctor ON COMMIT DROP AS SELECT generate_series(1, 30000)`.pipe(
    sql.withTransaction,
    Effect.match({
      onSuccess: () => ok("the database can be written to"),
      onFailure: (error) => broken(`the database cannot be written to: ${driverMessage(error)}`, "Free space on its disk, or correct WAYBILL_DATABASE_URL if it leads to a standby.")
    })
  )
})

/** What is accepted, and what is sent, must be on disk before. */
const durabilityFinding = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const off = yield* sql<{ name: string }>`
    SELECT name FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off' ORDER BY name
  `
  return off.length === 0
    ? ok("what is committed is on disk")
    : warning(`off: ${off.map((each) => each.name).join(", ")}`, "Set them to on, for this role at least: in a crash of the database, events that were accepted may be lost, and deliveries come again under other ids.")
})

/** More than a busy database writes in a second. */
const longReplicaLagBytes = 64 * 1024 * 1024

/** Without the replica everything works, more slowly. The server does not start if its URL requires a TLS that it does not offer. */
const replicaFinding = ({ readDatabaseUrl }: ServerConfig): Effect.Effect<Finding, never, PgClient.PgClientService> => {
  if (readDatabaseUrl === undefined) return Effect.succeed(ok("none: the database answers lookups"))
  const place = databaseLocation(readDatabaseUrl)
  const unused = (why: string) => warning(`lookups are not sent to ${place}: ${why}`, "The database answers them meanwhile. Start the standby, or correct WAYBILL_READ_DATABASE_URL.")
  return Effect.gen(function*() {
    const primary = yield* PgClient.PgClient
    const replica = Context.get(yield* Layer.build(connection(readDatabaseUrl)), PgClient.PgClient)
    const refusal = yield* replicaRefusal(primary, replica)
    if (refusal !== undefined) return unused(refusal)
    const lag = yield* replicaLag(primary, replica)
    return lag > longReplicaLagBytes ? unused(`it is ${lag} bytes behind`) : ok(`${place}, ${lag} bytes behind`)
  }).pipe(Effect.scoped, Effect.catch((error) => {
    const fault = connectionFault(error, "WAYBILL_READ_DATABASE_URL")
    return Effect.succeed(fault === undefined ? unused(driverMessage(error)) : broken(`the standby at ${place} ${fault.detail}`, fault.todo))
  }))
}

const clockFinding = (aheadMillis: number): Finding => {
  const seconds = Math.abs(aheadMillis) / 1000
  const text = seconds < 0.1 ? "agrees with the database's" : `is ${seconds.toFixed(1)} seconds ${aheadMillis > 0 ? "behind" : "ahead of"} the database's`
  const todo = "Synchronize both machines with NTP. Receivers refuse signatures more than five minutes off."
  if (seconds < 2) return ok(`this machine's clock ${text}`)
  return seconds < 60 ? warning(`this machine's clock ${text}`, todo) : broken(`this machine's clock ${text}`, todo)
}

const tablesFinding = Effect.fnUntraced(function*({ schema }: ServerConfig) {
  const missing = yield* Effect.catchTags(pending({ schema, migrations }), {
    MigrationRefused: (error) => Effect.succeed(error),
    // The configuration has already validated the schema name.
    InvalidSchemaName: Effect.die
  })
  if (missing instanceof MigrationRefused) return broken(missing.message, "Nothing was changed.")
  if (missing.length === 0) return ok(`schema ${schema} is at version ${migrations.at(-1)!.id}`)
  const sql = yield* SqlClient.SqlClient
  const [may] = yield* sql<{ create: boolean }>`
    SELECT CASE WHEN to_regnamespace(${quoteSchema(schema)}) IS NULL THEN has_database_privilege(current_database(), 'CREATE')
                ELSE has_schema_privilege(to_regnamespace(${quoteSchema(schema)})::oid, 'CREATE') END AS create
  `
  const lacks = `schema ${schema} lacks ${missing.map((each) => each.name).join(", ")}`
  return may!.create
    ? warning(lacks, "The next start of the server applies them; waybill migrate applies them now.")
    : broken(`${lacks}, and this user may not create them`, "Give the output of waybill migrate --print to a database administrator.")
})

/** A longer list would not be read. */
const mostNamed = 5

/** Tables of a migration that another user applied belong to that user. A process without a privilege is ready, and answers 503 to the calls that need it. */
const privilegesFinding = Effect.fnUntraced(function*({ schema }: ServerConfig) {
  const sql = yield* SqlClient.SqlClient
  const lacking = yield* sql<{ role: string; name: string; lacks: string }>`
    SELECT quote_ident(current_user) AS role, c.relname AS name, string_agg(p.privilege, ', ' ORDER BY p.no) AS lacks
    FROM pg_class AS c CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) WITH ORDINALITY AS p (privilege, no)
    WHERE c.relnamespace = to_regnamespace(${quoteSchema(schema)})::oid AND c.relkind IN ('r', 'p') AND NOT has_table_privilege(c.oid, p.privilege)
      AND (c.relname <> 'migrations' OR p.privilege = 'SELECT')
    GROUP BY c.relname ORDER BY c.relname
  `
  const [first] = lacking
  if (first === undefined) return ok("this user may read and write every table")
  const named = lacking.slice(0, mostNamed).map(({ lacks, name }) => `${lacks} on ${name}`)
  const more = lacking.length > mostNamed ? `, and on ${lacking.length - mostNamed} more` : ""
  return broken(
    `the user in WAYBILL_DATABASE_URL lacks ${named.join(", ")}${more}`,
    `As the owner of the tables: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${quoteSchema(schema)} TO ${first.role}; ALTER DEFAULT PRIVILEGES does the same for those of later versions: see docs/operating/backup-and-upgrade.md.`
  )
})

const indexesFinding = Effect.fnUntraced(function*({ schema }: ServerConfig) {
  const faulty = yield* faultyIndexes(schema, migrations)
  if (faulty.length === 0) return ok("all are there")
  const named = faulty.slice(0, mostNamed)
  const more = faulty.length > named.length ? `, and ${faulty.length - named.length} more` : ""
  return warning(
    `${named.map(({ fault, name }) => `${name} is ${fault}`).join(", ")}${more}: statements that use ${faulty.length === 1 ? "it" : "them"} are slow or fail`,
    `As the owner of the tables: ${named.map(({ repair }) => repair).join(" ")}`
  )
})

/** Statements normally wait for milliseconds. */
const longWaitSeconds = 5

/**
 * Sessions that others wait for, without those that wait themselves, whose names are visible to every role. And prepared transactions, which
 * have no session: one that its coordinator forgot keeps its locks, also after a restart of the database.
 */
const locksFinding = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const blocking = yield* sql<{ pid: number; role: string | null; application: string | null; waiting: number; seconds: number }>`
    SELECT b.pid, b.usename AS role, b.application_name AS application, count(*)::int AS waiting, max(extract(epoch FROM clock_timestamp() - w.query_start))::float8 AS seconds
    FROM pg_stat_activity AS w CROSS JOIN LATERAL unnest(pg_blocking_pids(w.pid)) AS p (pid) JOIN pg_stat_activity AS b ON b.pid = p.pid
    WHERE w.datname = current_database() AND w.wait_event_type = 'Lock' AND cardinality(pg_blocking_pids(b.pid)) = 0
    GROUP BY b.pid, b.usename, b.application_name HAVING max(extract(epoch FROM clock_timestamp() - w.query_start)) >= ${longWaitSeconds}
    ORDER BY seconds DESC LIMIT ${mostNamed}
  `
  const prepared = yield* sql<{ gid: string; owner: string; seconds: number; rollback: string }>`
    SELECT gid, owner, extract(epoch FROM clock_timestamp() - prepared)::float8 AS seconds, format('ROLLBACK PREPARED %L;', gid) AS rollback
    FROM pg_prepared_xacts WHERE database = current_database() AND extract(epoch FROM clock_timestamp() - prepared) >= ${longWaitSeconds}
    ORDER BY prepared LIMIT ${mostNamed}
  `
  if (blocking.length === 0 && prepared.length === 0) return ok("no session holds others up")
  const details = [
    ...blocking.map(({ application, pid, role, seconds, waiting }) =>
      `${counted(waiting, "session")} waited up to ${Math.round(seconds)} s for session ${pid} (${application || "no name"}, role ${role})`),
    ...prepared.map(({ gid, owner, seconds }) => `transaction ${gid} of role ${owner} has been prepared for ${Math.round(seconds)} s and holds its locks`)
  ]
  const ends = [...blocking.map(({ pid }) => `SELECT pg_terminate_backend(${pid});`), ...prepared.map(({ rollback }) => rollback)]
  return warning(details.join("; "), `Let it finish, or end it: ${ends.join(" ")}`)
})

const mostSecrets = 10_000

const secretsFinding = Effect.fnUntraced(function*(config: ServerConfig) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql.unsafe<{ tenant: string; id: string; sealed: ReadonlyArray<Uint8Array> }>(
    `SELECT tenant_id AS tenant, hmac_secret_id AS id, sealed FROM ${quoteSchema(config.schema)}.secrets ORDER BY tenant_id, hmac_secret_id LIMIT ${mostSecrets}`
  )
  const todo = config.sealingKeys === undefined
    ? "Set the WAYBILL_SEALING_KEY that sealed them, or restore the file sealing-key of the data directory."
    : "Put the key that sealed them behind the new one: WAYBILL_SEALING_KEY=new,old."
  const keys = yield* sealingKeysOf(config)
  if (keys === undefined) {
    return rows.length === 0
      ? ok("there are none yet; the first start generates a sealing key")
      : broken(`there is no key here to open the ${counted(rows.length, "secret")} with`, todo)
  }
  const closed = yield* Effect.flatMap(Sealer, (sealer) =>
    Effect.filter(rows, ({ id, sealed, tenant }) =>
      Effect.match(Effect.forEach(sealed, (each) => sealer.open(placeOfSecret(tenant, id), each), { discard: true }), {
        onSuccess: () => false,
        onFailure: () => true
      }))).pipe(Effect.provide(Sealer.layer(keys)))
  if (closed.length === 0) return ok(rows.length === 0 ? "there are none yet" : `${rows.length === 1 ? "the one secret" : `all ${rows.length}`} can be opened`)
  const [first] = closed
  return broken(`${closed.length} of ${rows.length} cannot be opened, such as ${first!.id} of ${first!.tenant}; deliveries signed with them are not sent`, todo)
})

/** Two layers say what failed: the storage, and the database behind it. */
const unread = (cause: Cause.Cause<unknown>): Finding => {
  const error = Cause.squash(cause)
  const behind = (error as Partial<StorageError>).cause ?? error
  return broken(`it could not be read: ${SqlError.isSqlError(behind) ? driverMessage(behind) : String(behind)}`, "See the lines above, and the database's log.")
}

const storageOf = (schema: string) => StoragePostgres.layer({ schema, migrate: false, listen: false })

/** Entries that are due are normally sent within seconds. */
const longLagMillis = 60_000

const queueFinding = Effect.fnUntraced(function*({ schema }: ServerConfig) {
  const depth = yield* Effect.exit(Effect.flatMap(DeliveryQueue, (queue) => queue.depth).pipe(Effect.provide(storageOf(schema))))
  if (Exit.isFailure(depth)) return unread(depth.cause)
  const { dead, lagMillis, unsettled, waitingEntries } = depth.value
  const text = `about ${counted(waitingEntries, "entry", "entries")} waiting, ${counted(unsettled, "delivery", "deliveries")} in progress, ${counted(dead, "dead letter")}, ${Math.round(lagMillis / 1000)} s behind`
  if (lagMillis > longLagMillis) return warning(text, "No worker runs, or too few: start processes with WAYBILL_ROLE all or worker.")
  if (dead > 0) return warning(text, "See waybill deliveries --state dead; waybill recover sends them again.")
  return ok(text)
})

/** E-mails that are due are normally tried within seconds; a process that was killed leaves them for ten minutes. */
const longMailLagMillis = 900_000

const mailTimeoutMillis = 5_000

const mailFinding = Effect.fnUntraced(function*({ mail, schema }: ServerConfig) {
  const read = yield* Effect.exit(Effect.flatMap(MailStore, (mails) => mails.lagMillis).pipe(Effect.provide(storageOf(schema))))
  if (Exit.isFailure(read)) return unread(read.cause)
  const lag = read.value
  const refusal = mail === undefined ? undefined : yield* Effect.match(checkMailServer(mail, mailTimeoutMillis), { onSuccess: () => undefined, onFailure: ({ reason }) => reason })
  if (refusal !== undefined) return broken(`the mail server cannot be used: ${refusal}`, mailTodo)
  const sends = mail === undefined ? "these settings send none" : "processes with these settings send it"
  return lag > longMailLagMillis
    ? warning(`${sends}, and e-mail has been due for ${Math.round(lag / 60_000)} minutes`, "No process sends it: start one with WAYBILL_SMTP_URL and WAYBILL_MAIL_FROM. It is removed after two days.")
    : ok(sends)
})

const mailTodo = "Correct WAYBILL_SMTP_URL: smtps:// is for a port that begins with TLS (465), smtp:// for STARTTLS (587, 25). NODE_EXTRA_CA_CERTS names authorities of your own. E-mail waits for a day."
