/** Loaded in front of the program, makes of it the one that follows: it knows one migration more. */
import { type Migration, migrations } from "@waybill/postgres"
import { nextVersion } from "./NextMigration.ts"

// the list is the program's own; only its type says that nobody adds to it
;(migrations as Array<Migration>).push(nextVersion)
