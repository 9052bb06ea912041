/** Preloaded to turn the program into its next version, with one more migration. */
import { type Migration, migrations } from "@waybill/postgres"
import { nextVersion } from "./NextMigration.ts"

// The program's own list; only its type is readonly.
;(migrations as Array<Migration>).push(nextVersion)
