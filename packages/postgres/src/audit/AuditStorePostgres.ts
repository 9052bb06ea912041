/** The audit log on Postgres. */
import { type AuditRange, type AuditRecord, AuditStore } from "@waybill/core"
import { Effect } from "effect"
import { type Decoded, int4, int4Array, int8, only, optional, row, text, textArray, timestamptz, timestamptzArray, uuid, uuidArray } from "../client/SqlRow.ts"
import { nothing, raw, type Statement, statement, tenant } from "../client/SqlStatement.ts"
import { given } from "../shared/GivenRows.ts"
import { pruneRows } from "../shared/PruneRows.ts"
import { storeLayer } from "../shared/StoreLayer.ts"

/** Entries removed by one call of `prune`. */
const pruneSize = raw("5000")

const entryRow = row({
  entryId: uuid,
  at: timestamptz,
  actorKind: only<AuditRecord["actor"]["kind"]>(text),
  actorName: text,
  address: optional(text),
  action: text,
  tenantId: text,
  objectKind: text,
  objectId: text,
  result: only<AuditRecord["result"]>(text),
  status: int4,
  requestId: text
})

const entryColumns = {
  entryId: uuidArray, at: timestamptzArray, actorKind: textArray, actorName: textArray, address: textArray, action: textArray,
  objectKind: textArray, objectId: textArray, result: textArray, status: int4Array, requestId: textArray
}

const entryOf = ({ actor, id, object, ...record }: AuditRecord) =>
  ({ ...record, entryId: id, actorKind: actor.kind, actorName: actor.name, objectKind: object.kind, objectId: object.id })

const putEntries = (schema: Statement, tenantId: string, records: ReadonlyArray<AuditRecord>) => statement`
INSERT INTO ${schema}.audit_entries (tenant_id, entry_id, at, actor_kind, actor_name, address, action, object_kind, object_id, result, status, request_id)
SELECT ${tenant(tenantId)}, e.* FROM ${given("e", records.map(entryOf), entryColumns)}
ON CONFLICT (tenant_id, entry_id) DO UPDATE SET object_id = EXCLUDED.object_id, result = EXCLUDED.result, status = EXCLUDED.status`

const lowestId = "00000000-0000-0000-0000-000000000000"
const highestId = "ffffffff-ffff-ffff-ffff-ffffffffffff"

/**
 * Of one actor in all tenants, rows are compared with the actor and sorted by it: only the index of actors has this order. By ids alone the
 * planner may read the index of all entries, nearly all of which may be of others.
 */
export const pageEntries = (schema: Statement, { actor, before = highestId, from = lowestId, limit, tenantId }: AuditRange) => {
  const [first, last, most] = [uuid(from), uuid(before), int8(limit)]
  const entries = statement`SELECT ${entryRow.columns()} FROM ${schema}.audit_entries WHERE`
  if (actor !== undefined && tenantId === undefined) {
    const name = text(actor)
    return statement`${entries} (actor_name, entry_id) >= (${name}, ${first}) AND (actor_name, entry_id) < (${name}, ${last}) ORDER BY actor_name DESC, entry_id DESC LIMIT ${most}`
  }
  return statement`${entries} entry_id >= ${first} AND entry_id < ${last}
${tenantId === undefined ? nothing : statement`AND tenant_id = ${tenant(tenantId)}`} ${actor === undefined ? nothing : statement`AND actor_name = ${actor}`}
ORDER BY entry_id DESC LIMIT ${most}`
}

const oldestRow = row({ entryId: uuid, tenantId: text })

const oldestEntries = (schema: Statement, before: string) =>
  statement`SELECT ${oldestRow.columns()} FROM ${schema}.audit_entries WHERE entry_id < ${uuid(before)} ORDER BY entry_id LIMIT ${pruneSize}`

const deleteEntries = (schema: Statement, tenantId: string, ids: ReadonlyArray<string>) =>
  pruneRows(schema, tenantId, { table: "audit_entries", key: ["entry_id"], which: statement`entry_id = ANY (${uuidArray(ids)})` })

export const layer = storeLayer(AuditStore, ({ schema, sql }) => {
  const tenantOf = ({ tenantId }: { readonly tenantId: string }) => tenantId
  /** One statement per tenant, so that no statement crosses tenants. */
  const put = (records: ReadonlyArray<AuditRecord>) =>
    Effect.forEach(Map.groupBy(records, tenantOf), ([tenantId, own]) => sql.run(putEntries(schema, tenantId, own)), { discard: true })

  const prune = Effect.fnUntraced(function*(before: string) {
    const oldest = yield* sql.rows(oldestRow, oldestEntries(schema, before))
    let pruned = 0
    for (const [tenantId, own] of Map.groupBy(oldest, tenantOf)) {
      pruned += yield* sql.one(int8, deleteEntries(schema, tenantId, own.map(({ entryId }) => entryId)))
    }
    return pruned
  })

  return {
    put,
    page: (query) => Effect.map(sql.rows(entryRow, pageEntries(schema, query)), (rows) => rows.map(recordOf)),
    prune
  }
})

const recordOf = ({ actorKind, actorName, entryId, objectId, objectKind, ...entry }: Decoded<typeof entryRow>): AuditRecord => ({
  ...entry,
  id: entryId,
  actor: { kind: actorKind, name: actorName },
  object: { kind: objectKind, id: objectId }
})
