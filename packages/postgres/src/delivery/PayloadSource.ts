/** The contract between the delivery queue and the areas that store payloads. */
import type { Statement } from "../client/SqlStatement.ts"

/** Where the bytes that entries refer to are kept. The queue knows tables, not areas. */
export interface PayloadSource {
  /** What destinations call it. */
  readonly source: string
  readonly table: string
  /** A query of the tenant `$1` in place of the table, if that does not have the bytes that are sent. */
  readonly rows?: (schema: string) => string
  /** The bigint that entries hold. */
  readonly ref: string
  /** Breaks ties of key and sequence within a batch. */
  readonly orderId: string
  /** The condition that finds rows `x` by an index, by an array of their orderIds. Without it, entries are found by their keys only. */
  readonly found?: (orderIds: string) => string
  /** What its entries are ordered by, and their place in that order. */
  readonly key: string
  readonly sequence: string
  /**
   * Whether all entries of one key are seen by the same clients, and by those that see everything, or each by clients of its own. `by shipment`: the key
   * is a shipment, whose accounts decide.
   */
  readonly judged: "by shipment" | "by key" | "one by one"
  /** The condition under which a client may see an entry. */
  readonly visible: (schema: string, client: string, key: string, ref: string) => string
  /** Where an entry holds several things: a statement that queues those a client may still see, for entries that were dropped. */
  readonly remainder?: (schema: Statement, tenantId: string, dropped: ReadonlyArray<{ readonly destinationId: string; readonly ref: number }>) => Statement
}
