/** Every migration, in order. A released one is never edited. */
import { transitEvents } from "./0001_transit_events.ts"
import type { Migration } from "./Migrations.ts"

export const migrations: ReadonlyArray<Migration> = [transitEvents]
