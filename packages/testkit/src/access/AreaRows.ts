/** The common part of the rows of all areas. */
import { Effect } from "effect"
import { type AccessRows, AccessTables } from "./AccessTables.ts"
import { type ShipmentRows, ShipmentTables } from "./ShipmentTables.ts"
import { type DestinationRows, DestinationTables } from "../delivery/DestinationTables.ts"
import { MemoryDatabase } from "../shared/MemoryDatabase.ts"
import { TenantRows } from "../shared/TenantRows.ts"

interface SharedRows extends Pick<MemoryDatabase["Service"], "journal" | "onPurge"> {
  readonly destinations: DestinationRows
  readonly access: AccessRows
  readonly owners: ShipmentRows
}

export class AreaRows<Own> extends TenantRows<Own> {
  protected readonly destinations: DestinationRows
  protected readonly access: AccessRows
  protected readonly owners: ShipmentRows

  constructor(shared: SharedRows, empty: () => Own) {
    super(shared, empty)
    this.destinations = shared.destinations
    this.access = shared.access
    this.owners = shared.owners
  }
}

/** Makes the rows of an area, as part of the database. */
export const areaRows = Effect.fnUntraced(function*<Rows>(make: (shared: SharedRows) => Rows) {
  return make({ ...yield* MemoryDatabase, destinations: yield* DestinationTables, access: yield* AccessTables, owners: yield* ShipmentTables })
})
