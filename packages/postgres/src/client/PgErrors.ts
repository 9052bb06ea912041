/** Classifies errors by the code that Postgres, the socket or an ORM reports. */
import {
  AuthenticationError,
  AuthorizationError,
  ConnectionError,
  ConstraintError,
  DeadlockError,
  LockTimeoutError,
  SerializationError,
  SqlError,
  type SqlErrorReason,
  SqlSyntaxError,
  StatementTimeoutError,
  UniqueViolation,
  UnknownError
} from "effect/sql/SqlError"
import { notIso, unreadableTime } from "./PgTypes.ts"

/**
 * Classifies an error thrown by a driver. Unwraps it: Drizzle puts the database's error under `cause`, Sequelize under `parent`,
 * Prisma its code under `meta`, and with a driver adapter deeper still.
 *
 * @stability unstable
 */
export const classify = (cause: unknown, operation?: string): SqlErrorReason => {
  const layers = unwrap(cause)
  const props = { cause, message: messageOf(layers), operation }
  for (const { code, constraint } of layers) {
    const name = code === undefined ? undefined : reasonOfCode(code)
    if (name === "UniqueViolation") return new UniqueViolation({ ...props, constraint: constraint ?? "unknown" })
    if (name !== undefined) return new reasons[name](props)
  }
  if (layers.some(({ message }) => connectionMessages.test(message))) return new ConnectionError(props)
  if (layers.some(({ message }) => message === "Query read timeout")) return new StatementTimeoutError(props)
  return new UnknownError(props)
}

/**
 * The typed failure for an error thrown by a driver.
 *
 * @stability unstable
 */
export const sqlError = (cause: unknown, operation?: string): SqlError =>
  cause instanceof SqlError ? cause : new SqlError({ reason: classify(cause, operation) })

/** A failure of `@effect/sql-pg`, classified by its cause like those of other drivers. The package knows fewer codes. */
export const sqlPgError = ({ reason }: SqlError, operation: string): SqlError => {
  const own = classify(reason.cause, operation)
  if (own._tag !== "UnknownError" || !(reason._tag === "ConnectionError" || reason._tag === "AuthenticationError")) return new SqlError({ reason: own })
  return new SqlError({ reason: new reasons[reason._tag]({ cause: reason.cause, message: own.message, operation }) })
}

/** A failure that this layer detects itself, with its own message. */
export const refusal = (message: string, operation: string): SqlError =>
  new SqlError({ reason: new UnknownError({ cause: new Error(message), message, operation }) })

/**
 * A message for errors that the host made with its transaction; `undefined` for other errors.
 *
 * @stability unstable
 */
export const hostFault = (error: SqlError): string | undefined => {
  if (error.reason.operation === "join") return error.message
  const layers = unwrap(error.reason.cause)
  if (layers.some(({ code, message }) => code === "25P01" || code === "P2028" || overMessages.test(message))) {
    return "The transaction given to within(tx) is over, or never began. Call within(tx) inside it, and await the call before it ends."
  }
  if (layers.some(({ code }) => code === "25P02")) {
    return "The transaction given to within(tx) has failed: one of its statements did, and the error was caught. Roll it back, or put such a statement into a savepoint."
  }
  if (layers.some(({ code }) => code === "25006")) {
    return "The transaction given to within(tx) is read-only. Begin it without READ ONLY, with default_transaction_read_only off, and on the primary server."
  }
  if (layers.some(({ message }) => message.startsWith(notIso))) {
    return "The transaction given to within(tx) has another DateStyle than ISO, and its times cannot be read. Begin it without SET DateStyle."
  }
  if (layers.some(({ message }) => message === unreadableTime)) {
    return "The driver of the transaction given to within(tx) returns a timestamptz neither as a Date nor as text. Leave out the host's parser of timestamptz, or let it return one of both."
  }
  if (layers.some(({ code }) => code !== undefined && missingObject.has(code))) {
    return `The database of the transaction given to within(tx) lacks Waybill's tables: ${error.message}. Begin it on the database of the storage.`
  }
  if (error.reason._tag === "AuthorizationError") {
    return `The role of the transaction given to within(tx) lacks rights on Waybill's tables: ${error.message}. Grant them, or call within(tx) before SET ROLE or after RESET ROLE.`
  }
  return undefined
}

/** An undefined schema, table, column or function. Waybill names the schema everywhere, so a search_path does not matter. */
const missingObject: ReadonlySet<string> = new Set(["3F000", "42P01", "42703", "42883"])

/** Knex, Kysely, TypeORM and Sequelize have no error code for a transaction that has ended. */
const overMessages = /^Transaction query already complete|^Transaction is already (committed|rolled back|aborted)|^Query runner already released|^(commit|rollback) has been called on this transaction/

/** The failure for a connection that can no longer be used, with its own message. */
export const connectionLost = (message: string, operation: string, cause: unknown = new Error(message)): SqlError =>
  new SqlError({ reason: new ConnectionError({ cause, message, operation }) })

const reasons = {
  AuthenticationError,
  AuthorizationError,
  ConnectionError,
  ConstraintError,
  DeadlockError,
  LockTimeoutError,
  SerializationError,
  SqlSyntaxError,
  StatementTimeoutError
}

type ReasonName = keyof typeof reasons | "UniqueViolation"

const codes: Record<string, ReasonName> = {
  "23505": "UniqueViolation",
  // a read-only server: after a failover this connection leads to the old primary
  "25006": "ConnectionError",
  // the server closed the session: idle in transaction, transaction timeout
  "25P03": "ConnectionError",
  "25P04": "ConnectionError",
  "40P01": "DeadlockError",
  "42501": "AuthorizationError",
  // too many connections
  "53300": "ConnectionError",
  "55P03": "LockTimeoutError",
  "57014": "StatementTimeoutError",
  ECONNREFUSED: "ConnectionError",
  ECONNRESET: "ConnectionError",
  ECONNABORTED: "ConnectionError",
  EPIPE: "ConnectionError",
  ETIMEDOUT: "ConnectionError",
  ENOTFOUND: "ConnectionError",
  EAI_AGAIN: "ConnectionError",
  EHOSTUNREACH: "ConnectionError",
  ENETUNREACH: "ConnectionError",
  ENOENT: "ConnectionError"
}

/** The first two characters of an SQLSTATE. 57 without 57014: the server is stopping, starting or has crashed. */
const classes: Record<string, ReasonName> = {
  "08": "ConnectionError",
  "23": "ConstraintError",
  "28": "AuthenticationError",
  "40": "SerializationError",
  "42": "SqlSyntaxError",
  "57": "ConnectionError"
}

const reasonOfCode = (code: string): ReasonName | undefined =>
  codes[code] ?? (code.length === 5 ? classes[code.slice(0, 2)] : undefined)

/** pg has no codes for these. */
const connectionMessages =
  /^Connection terminated|^timeout expired$|^timeout exceeded when trying to connect|is not queryable$|after calling end on the pool$/

interface ErrorLayer {
  readonly code: string | undefined
  readonly constraint: string | undefined
  readonly message: string
}

const unwrap = (cause: unknown): ReadonlyArray<ErrorLayer> => {
  const layers: Array<ErrorLayer> = []
  for (let current = cause; isRecord(current) && layers.length < 8; current = current.cause ?? current.parent) {
    for (const candidate of [current, current.meta, adapterCause(current.meta)]) {
      if (!isRecord(candidate)) continue
      layers.push({
        code: textOf(candidate.code) ?? textOf(candidate.originalCode),
        constraint: textOf(candidate.constraint),
        message: textOf(candidate.message) ?? textOf(candidate.originalMessage) ?? ""
      })
    }
  }
  return layers
}

/** Of `pg`'s pool. The cause of this error says only that the connection ended, as if the server had ended it. */
const connectTimeout = "Connection terminated due to connection timeout"

/** The innermost message: wrappers repeat the statement and its values, which must not be logged. */
const messageOf = (layers: ReadonlyArray<ErrorLayer>): string => {
  const message = (layers.find(({ message }) => message === connectTimeout) ?? layers.findLast(({ message }) => message !== ""))?.message ?? "The database driver failed without saying why"
  const advice = poolerAdvice.find(({ isMeant }) => layers.some(isMeant))?.advice
  return advice === undefined ? message : `${message}. ${advice}`
}

/** Poolers between Waybill and the database fail with errors that do not name them. */
const poolerAdvice: ReadonlyArray<{ readonly isMeant: (layer: ErrorLayer) => boolean; readonly advice: string }> = [
  {
    // a prepared statement was there already, or was missing
    isMeant: ({ code }) => code === "42P05" || code === "26000",
    advice: "Probably a pooler shares connections between transactions, such as PgBouncer in transaction mode: use session mode, or embed with postgresStorage({ prepare: false, listen: false })"
  },
  {
    isMeant: ({ message }) => message.startsWith("unsupported startup parameter"),
    advice: "Set ignore_startup_parameters of PgBouncer, and the timeouts for the user instead"
  }
]

/** Prisma with a driver adapter keeps the database error at `meta.driverAdapterError.cause`. */
const adapterCause = (meta: unknown): unknown =>
  isRecord(meta) && isRecord(meta.driverAdapterError) ? meta.driverAdapterError.cause : undefined

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

const textOf = (value: unknown): string | undefined => typeof value === "string" && value !== "" ? value : undefined
