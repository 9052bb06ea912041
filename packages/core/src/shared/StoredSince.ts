/** Rows that were stored since an earlier look, for programs that pass everything on once. */

export interface StoredSince<Row> {
  readonly rows: ReadonlyArray<Row>
  /** Where the next look continues. Only the store reads it. */
  readonly position: string
  /** Whether more rows may be there already. */
  readonly more: boolean
}
