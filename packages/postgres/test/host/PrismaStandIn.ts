/**
 * What Prisma's client is to an adapter, over pg: its own cannot be generated where its engine cannot be downloaded. Kept to what
 * is documented and to what `@prisma/adapter-pg` does: queries that start when they are awaited, `$connect` and its like missing on
 * a transaction, errors and values wrapped as raw queries wrap them, column types that are refused, and no call after the end.
 */
import pg from "pg"

export class PrismaClientKnownRequestError extends Error {
  override readonly name = "PrismaClientKnownRequestError"
  readonly code: string
  readonly meta: Readonly<Record<string, unknown>>

  constructor(message: string, code: string, meta: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.code = code
    this.meta = meta
  }
}

export interface PrismaStandInTransaction {
  readonly $queryRawUnsafe: (sql: string, ...values: Array<any>) => PromiseLike<unknown>
  readonly $executeRawUnsafe: (sql: string, ...values: Array<any>) => PromiseLike<number>
}

export class PrismaStandIn {
  readonly #pool: pg.Pool

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  async $connect(): Promise<void> {}

  $queryRawUnsafe(sql: string, ...values: Array<any>): PromiseLike<unknown> {
    return lazily(async () => answerOf(await send(this.#pool, sql, values)))
  }

  async $transaction<A>(use: (tx: PrismaStandInTransaction) => Promise<A>): Promise<A> {
    const client = await this.#pool.connect()
    let closed = false
    const open = async (sql: string, values: ReadonlyArray<unknown>) => {
      if (!closed) return send(client, sql, values)
      throw new PrismaClientKnownRequestError(
        "Transaction API error: Transaction already closed: A query cannot be executed on a committed transaction.",
        "P2028",
        { operation: "query" }
      )
    }
    const end = async (sql: string) => {
      closed = true
      await client.query(sql).finally(() => client.release())
    }
    try {
      await client.query("BEGIN")
      const result = await use({
        $queryRawUnsafe: (sql, ...values) => lazily(async () => answerOf(await open(sql, values))),
        $executeRawUnsafe: (sql, ...values) => lazily(async () => (await open(sql, values)).rowCount ?? 0)
      })
      await end("COMMIT")
      return result
    } catch (error) {
      if (!closed) await end("ROLLBACK")
      throw error
    }
  }
}

/** Prisma's promises send nothing before somebody waits for them. */
const lazily = <A>(run: () => Promise<A>): PromiseLike<A> => {
  let running: Promise<A> | undefined
  return { then: (onValue, onError) => (running ??= run()).then(onValue, onError) }
}

const send = async (client: pg.Pool | pg.PoolClient, text: string, values: ReadonlyArray<unknown>): Promise<pg.QueryArrayResult> => {
  try {
    return await client.query({ text, values: values.map(sendable), rowMode: "array", types: { getTypeParser: (oid) => parserOf(oid) } })
  } catch (error) {
    const { code = "N/A", message } = error as pg.DatabaseError
    throw new PrismaClientKnownRequestError(`Raw query failed. Code: \`${code}\`. Message: \`${message}\``, "P2010", {
      driverAdapterError: Object.assign(new Error(message), {
        name: "DriverAdapterError",
        cause: { originalCode: code, originalMessage: message, kind: code === "23505" ? "UniqueConstraintViolation" : "postgres" }
      })
    })
  }
}

/** Instants lose their zone on the way, as the adapter writes them; bytes and all else go as they are. */
const sendable = (value: unknown): unknown => {
  if (value === undefined) throw new TypeError("Prisma sends no undefined.")
  if (value instanceof Date) return value.toISOString().replace("T", " ").replace("Z", "")
  return value
}

const supported = new Set([
  16, 17, 19, 20, 21, 23, 25, 26, 114, 142, 199, 700, 701, 790, 869, 650, 1000, 1001, 1002, 1005, 1007, 1009, 1014, 1015, 1016, 1021, 1022, 1028,
  1042, 1043, 1082, 1083, 1114, 1115, 1182, 1183, 1184, 1185, 1231, 1266, 1560, 1562, 1700, 2950, 2951, 3802, 3807
])

const text = (value: string): unknown => value
const elements = (parse: (value: string) => unknown) => (literal: string) =>
  (pg.types.getTypeParser(1009 as never) as (literal: string) => ReadonlyArray<string | null>)(literal).map((each) => each === null ? null : parse(each))
const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex.slice(2), "hex"))
const instant = (value: string) => new Date(value.replace(" ", "T").replace(/[+-]\d{2}(:\d{2})?$/, "+00:00"))

/** What a raw query's values become: 64-bit numbers BigInt, instants Date, bytes Uint8Array, JSON parsed. */
const parsers: ReadonlyMap<number, (value: string) => unknown> = new Map<number, (value: string) => unknown>([
  [16, (value) => value === "t"],
  [17, bytes],
  [20, BigInt],
  [21, Number],
  [23, Number],
  [26, BigInt],
  [114, JSON.parse],
  [700, Number],
  [701, Number],
  [1000, elements((value) => value === "t")],
  [1001, elements(bytes)],
  [1005, elements(Number)],
  [1007, elements(Number)],
  [1009, elements(text)],
  [1015, elements(text)],
  [1016, elements(BigInt)],
  [1184, instant],
  [1185, elements(instant)],
  [2951, elements(text)],
  [3802, JSON.parse]
])

const parserOf = (oid: number): any => parsers.get(oid) ?? text

const answerOf = ({ fields, rows }: pg.QueryArrayResult): ReadonlyArray<Readonly<Record<string, unknown>>> => {
  const refused = fields.find(({ dataTypeID }) => !supported.has(dataTypeID) && dataTypeID < 16_384)
  if (refused !== undefined) {
    throw new PrismaClientKnownRequestError(
      `Raw query failed. Code: \`N/A\`. Message: \`Failed to deserialize column of type '${refused.dataTypeID}'.\``,
      "P2010"
    )
  }
  return rows.map((row) => Object.fromEntries(fields.map(({ name }, at) => [name, row[at]])))
}
