/** The common part of the rows of all areas. */
import { Effect } from "effect"
import { type AccessRows, AccessTables } from "./AccessTables.ts"
import { type ShipmentRows, ShipmentTables } from "./ShipmentTables.ts"
import { type DestinationRows, DestinationTables } from "../delivery/DestinationTables.ts"
import type { Journal } from "../shared/Journal.ts"
import { MemoryDatabase, purged } from "../shared/MemoryDatabase.ts"
import { TenantRows } from "../shared/TenantRows.ts"

interface SharedRows {
  readonly journal: Journal
  readonly destinations: DestinationRows
  readonly access: AccessRows
  readonly owners: ShipmentRows
}

export abstract class AreaRows<Own> extends TenantRows<Own> {
  protected readonly destinations: DestinationRows
  protected readonly access: AccessRows
  protected readonly owners: ShipmentRows

  constructor({ access, destinations, journal, owners }: SharedRows) {
    super(journal)
    this.destinations = destinations
    this.access = access
    this.owners = owners
  }
}

/** Makes the rows of an area, as part of the database. */
export const areaRows = Effect.fnUntraced(function*<Own, Rows extends AreaRows<Own>>(make: (shared: SharedRows) => Rows) {
  const { journal, onPurge } = yield* MemoryDatabase
  return purged(onPurge, make({ journal, destinations: yield* DestinationTables, access: yield* AccessTables, owners: yield* ShipmentTables }))
})
