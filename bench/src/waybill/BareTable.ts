/** The rows of the event log in a plain table, filled with one statement per call. */

const columns = `
  tenant_id text COLLATE "C" NOT NULL,
  event_no bigint GENERATED ALWAYS AS IDENTITY,
  event_id text COLLATE "C" NOT NULL,
  shipment_id text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL,
  type_bit integer NOT NULL,
  occurred_at timestamptz NOT NULL,
  body bytea NOT NULL,
  PRIMARY KEY (tenant_id, event_no)`

/** `bare_key` has its primary key only; `bare_indexed` the indexes of the event log as well. */
export const bareTables: ReadonlyArray<string> = [
  `CREATE TABLE bare_key (${columns})`,
  `CREATE TABLE bare_indexed (${columns}, recorded_at timestamptz NOT NULL DEFAULT clock_timestamp())`,
  `CREATE UNIQUE INDEX ON bare_indexed (tenant_id, event_id)`,
  `CREATE INDEX ON bare_indexed (tenant_id, shipment_id, sequence, event_id)`,
  `CREATE INDEX ON bare_indexed USING brin (occurred_at)`,
  `CREATE INDEX ON bare_indexed USING brin (recorded_at)`
]

export const bareInsert = (table: string): string =>
  `INSERT INTO ${table} (tenant_id, event_id, shipment_id, sequence, type_bit, occurred_at, body)
   SELECT $1, e.* FROM unnest($2::text[], $3::text[], $4::int8[], $5::int4[], $6::timestamptz[], $7::bytea[]) AS e`
