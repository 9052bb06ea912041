/** Migrations that a later version may apply while this one runs: they only add. */
import { type Migration, migrations } from "@waybill/postgres"

const id = Math.max(...migrations.map((migration) => migration.id)) + 1

export const nextVersion: Migration = {
  id,
  name: "only_adds",
  breaking: false,
  up: (schema) => `
ALTER TABLE ${schema}.deliveries ADD COLUMN carrier_note text;
ALTER TABLE ${schema}.delivery_destinations ADD COLUMN weight integer NOT NULL DEFAULT 1;
ALTER TABLE ${schema}.transit_events ADD COLUMN origin_zone text;
CREATE TABLE ${schema}.carrier_notes (tenant_id text COLLATE "C" NOT NULL, note_id uuid NOT NULL, PRIMARY KEY (tenant_id, note_id));
CREATE INDEX deliveries_carrier_note ON ${schema}.deliveries (tenant_id, carrier_note) WHERE carrier_note IS NOT NULL;`
}

/** A migration that older programs cannot work with. */
export const breakingVersion: Migration = { id: id + 1, name: "renames", breaking: true, up: (schema) => `ALTER TABLE ${schema}.carrier_notes RENAME COLUMN note_id TO id` }
