/** Handled ids in a Postgres table, written in transactions of their own or in the handler's. */
import { checkOptions, type OptionKinds, optionKinds } from "../shared/CheckOptions.ts"
import { type Claim, type ClaimAnswer, keepSecondsOf, retentionKinds, type SeenRetention, type SeenStore, type TransactionalSeenStore } from "./SeenStore.ts"
import { type PostgresQuery, type PostgresRows, SeenTable } from "./SeenTable.ts"

/** Where handled ids are kept in Postgres, and for how long. */
export interface SeenInPostgresOptions extends SeenRetention {
  /** Name of the table, with its schema if needed. Default `waybill_seen`. Create it with `seenTableSql(table)`. */
  readonly table?: string | undefined
}

const kinds: OptionKinds<SeenInPostgresOptions> = { ...retentionKinds, table: optionKinds.text }

/** A pool of pg, or a function that sends a statement with another library. Each statement is its own transaction. */
export interface PostgresClient {
  query(text: string, values: Array<string>): PromiseLike<PostgresRows>
}

/**
 * Keeps ids in Postgres, for handlers whose effects are elsewhere. A crash between the handler's success and the mark
 * makes the delivery arrive again. For writes to the same database use `SeenInPostgresTransaction`.
 */
export class SeenInPostgres implements SeenStore {
  readonly #query: PostgresQuery
  readonly #table: SeenTable
  readonly #keepSeconds: number

  constructor(client: PostgresClient, options: SeenInPostgresOptions = {}) {
    checkOptions("SeenInPostgres", options, kinds)
    this.#query = (text, values) => client.query(text, values)
    this.#table = new SeenTable(options.table)
    this.#keepSeconds = keepSecondsOf(options)
  }

  async claim(ids: ReadonlyArray<string>, claim: Claim): Promise<ReadonlyArray<ClaimAnswer>> {
    return this.#table.claim(this.#query, ids, claim)
  }

  async markSeen(ids: ReadonlyArray<string>, _claim: Claim): Promise<void> {
    await this.#table.markSeen(this.#query, ids, this.#keepSeconds)
    await this.#table.removeExpired(this.#query, ids.length)
  }

  async release(ids: ReadonlyArray<string>, { token }: Claim): Promise<void> {
    await this.#table.release(this.#query, ids, token)
  }
}

/** A pool of pg or of a library with the same interface. */
export interface PostgresPool {
  connect(): Promise<PostgresConnection>
}

/** The result of a pool's `connect()`; pg also has a form with a callback. */
export type ConnectionOf<Pool extends PostgresPool> = Pool["connect"] extends
  { (): Promise<infer Connection>; (...args: never): unknown } ? Connection : never

/** The part of a `pg` client that is needed. */
export interface PostgresConnection {
  query(text: string, values?: Array<string>): PromiseLike<PostgresRows>
  /** With an argument, closes the connection instead of returning it to the pool. */
  release(broken?: boolean): void
  on(event: "error", listener: (error: Error) => void): unknown
  removeListener(event: "error", listener: (error: Error) => void): unknown
}

/** Transactions of a query builder or of another library for Postgres. */
export interface PostgresTransactions<Transaction> {
  /** Runs `work` in a new transaction: commits when it resolves, rolls back when it rejects. */
  readonly begin: (work: (transaction: Transaction) => Promise<void>) => PromiseLike<unknown>
  /** Sends a statement with `$1` placeholders in the transaction. */
  readonly query: (transaction: Transaction, text: string, values: Array<string>) => PromiseLike<PostgresRows>
}

/**
 * Keeps ids in the Postgres that the handler writes to, in one transaction with its writes: a delivery has its effect
 * exactly once, in any number of processes and after any crash. Handlers write with `context.transaction`.
 *
 * The transaction is open while the handler runs. A handler that calls other systems for long should store the delivery
 * and call them later.
 */
export class SeenInPostgresTransaction<Transaction> implements TransactionalSeenStore<Transaction> {
  readonly #transactions: PostgresTransactions<Transaction>
  readonly #table: SeenTable
  readonly #keepSeconds: number

  constructor(transactions: PostgresTransactions<Transaction>, options: SeenInPostgresOptions = {}) {
    checkOptions("SeenInPostgresTransaction", options, kinds)
    this.#transactions = transactions
    this.#table = new SeenTable(options.table)
    this.#keepSeconds = keepSecondsOf(options)
  }

  /** On a pool of pg: handlers receive the connection, in its transaction. */
  static ofPool<Pool extends PostgresPool>(pool: Pool, options?: SeenInPostgresOptions): SeenInPostgresTransaction<ConnectionOf<Pool>> {
    // The compiler does not see that this is the type that `connect` returns.
    return new SeenInPostgresTransaction(transactionsOf(pool) as unknown as PostgresTransactions<ConnectionOf<Pool>>, options)
  }

  async transact(
    ids: ReadonlyArray<string>,
    handle: (answers: ReadonlyArray<ClaimAnswer>, transaction: Transaction) => Promise<void>
  ): Promise<void> {
    await this.#transactions.begin(async (transaction) => {
      const query: PostgresQuery = (text, values) => this.#transactions.query(transaction, text, values)
      await handle(await this.#table.claim(query, ids, { token: null, seconds: this.#keepSeconds }), transaction)
      // Last, because it also fails if the handler ignored an error of Postgres: COMMIT would then roll back in silence.
      await this.#table.removeExpired(query, ids.length)
    })
  }
}

const transactionsOf = (pool: PostgresPool): PostgresTransactions<PostgresConnection> => ({
  query: (connection, text, values) => connection.query(text, values),
  begin: async (work) => {
    const connection = await pool.connect()
    // Without a listener, a connection that is lost between two statements would end the process.
    connection.on("error", ignore)
    let broken = false
    try {
      await connection.query("BEGIN")
      await work(connection)
      await connection.query("COMMIT")
    } catch (error) {
      try {
        await connection.query("ROLLBACK")
      } catch {
        broken = true
      }
      throw error
    } finally {
      connection.removeListener("error", ignore)
      connection.release(broken)
    }
  }
})

const ignore = () => {}
