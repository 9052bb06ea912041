/** The rows of the event log in a plain table, filled with one statement per call. */
import { Sql } from "@waybill/postgres"

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
  `CREATE UNIQUE INDEX ON bare_indexed (tenant_id, event_id, shipment_id)`,
  `CREATE INDEX ON bare_indexed (tenant_id, shipment_id, sequence, event_id)`,
  `CREATE INDEX ON bare_indexed USING brin (occurred_at)`,
  `CREATE INDEX ON bare_indexed USING brin (recorded_at)`,
  `CREATE INDEX ON bare_indexed (tenant_id, occurred_at)`
]

interface BareEvents {
  readonly eventIds: ReadonlyArray<string>
  readonly shipmentIds: ReadonlyArray<string>
  readonly bodies: ReadonlyArray<Uint8Array>
}

export const bareInsert = (table: string, tenantId: string, { bodies, eventIds, shipmentIds }: BareEvents) => Sql.statement`
INSERT INTO ${Sql.raw(table)} (tenant_id, event_id, shipment_id, sequence, type_bit, occurred_at, body)
SELECT ${Sql.tenant(tenantId)}, e.* FROM unnest(
  ${Sql.textArray(eventIds)},
  ${Sql.textArray(shipmentIds)},
  ${Sql.int8Array(eventIds.map(() => 1))},
  ${Sql.int4Array(eventIds.map(() => 8))},
  ${Sql.timestamptzArray(eventIds.map(() => Date.now()))},
  ${Sql.byteaArray(bodies)}
) AS e`
