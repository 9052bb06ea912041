/** Rows that were stored since an earlier read, for programs that forward every row once. */

export interface StoredSince<Row> {
  readonly rows: ReadonlyArray<Row>
  /** Where the next read continues. Only the store reads it. */
  readonly position: string
  /** Whether more rows may be there already. */
  readonly more: boolean
}
