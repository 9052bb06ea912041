/** What the storage needs to know of an area. */
import type { Layer } from "effect"
import type { PayloadSource } from "./delivery/PayloadSource.ts"

export interface PostgresArea {
  readonly stores: Layer.Any
  /** Tables that hold the bytes of its entries. */
  readonly payloads: ReadonlyArray<PayloadSource>
}
