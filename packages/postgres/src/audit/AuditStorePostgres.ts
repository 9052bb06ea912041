/** The audit log on Postgres. */
import { type AuditRecord, AuditStore, StorageError } from "@waybill/core"
import { Effect, Layer } from "effect"
import { int4Array, textArray, timestamptzArray, uuidArray } from "../client/PgBulk.ts"
import { PgClient } from "../client/PgClient.ts"
import { WaybillSchema } from "../shared/Schema.ts"

/** Entries removed by one call of `prune`. */
const pruneSize = 5_000

const columns = "entry_id, at, actor_kind, actor_name, address, action, tenant_id, object_kind, object_id, result, status, request_id"

const columnTypes = ["uuid", "timestamptz", "text", "text", "text", "text", "text", "text", "text", "text", "int4", "text"] as const

export const layer = Layer.effect(
  AuditStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { quoted: schema } = yield* WaybillSchema

    const putOfTenant = (tenantId: string, records: ReadonlyArray<AuditRecord>) =>
      sql.bulk(
        `INSERT INTO ${schema}.audit_entries (tenant_id, entry_id, at, actor_kind, actor_name, address, action, object_kind, object_id, result, status, request_id)
         SELECT $1, e.* FROM unnest($2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::int4[], $12::text[]) AS e
         ON CONFLICT (tenant_id, entry_id) DO UPDATE SET object_id = EXCLUDED.object_id, result = EXCLUDED.result, status = EXCLUDED.status`,
        [
          tenantId,
          uuidArray(records.map((each) => each.id)),
          timestamptzArray(records.map((each) => each.at)),
          textArray(records.map((each) => each.actor.kind)),
          textArray(records.map((each) => each.actor.name)),
          textArray(records.map((each) => each.address ?? null)),
          textArray(records.map((each) => each.action)),
          textArray(records.map((each) => each.object.kind)),
          textArray(records.map((each) => each.object.id)),
          textArray(records.map((each) => each.result)),
          int4Array(records.map((each) => each.status)),
          textArray(records.map((each) => each.requestId))
        ]
      )

    /** One statement per tenant, so that no statement crosses tenants. */
    const put = (records: ReadonlyArray<AuditRecord>) => {
      const byTenant = new Map<string, Array<AuditRecord>>()
      for (const record of records) {
        const own = byTenant.get(record.tenantId)
        if (own === undefined) byTenant.set(record.tenantId, [record])
        else own.push(record)
      }
      return Effect.forEach(byTenant, ([tenantId, own]) => putOfTenant(tenantId, own), { discard: true })
    }

    const prune = Effect.fnUntraced(function*(before: string) {
      const oldest = yield* sql.bulk(
        `SELECT entry_id, tenant_id FROM ${schema}.audit_entries WHERE entry_id < $1::uuid ORDER BY entry_id LIMIT ${pruneSize}`,
        [before],
        ["uuid", "text"]
      )
      for (const tenantId of new Set(oldest.map(([, tenantId]) => tenantId as string))) {
        const ids = oldest.filter((each) => each[1] === tenantId).map(([id]) => id as string)
        yield* sql.bulk(`DELETE FROM ${schema}.audit_entries WHERE tenant_id = $1 AND entry_id = ANY ($2::uuid[])`, [tenantId, uuidArray(ids)])
      }
      return oldest.length
    })

    const lowestId = "00000000-0000-0000-0000-000000000000"
    const highestId = "ffffffff-ffff-ffff-ffff-ffffffffffff"

    return AuditStore.of({
      put: (records) => put(records).pipe(StorageError.refail("AuditStore.put")),
      page: ({ actor, before, from, limit, tenantId }) => {
        const filters = Object.entries({ tenant_id: tenantId, actor_name: actor }).flatMap(([column, value]) => value === undefined ? [] : [[column, value] as const])
        const where = filters.map(([column], at) => `AND ${column} = $${at + 4}`).join(" ")
        return sql.bulk(
          `SELECT ${columns} FROM ${schema}.audit_entries WHERE entry_id >= $1::uuid AND entry_id < $2::uuid ${where} ORDER BY entry_id DESC LIMIT $3::int8`,
          [from ?? lowestId, before ?? highestId, limit, ...filters.map(([, value]) => value)],
          columnTypes
        ).pipe(Effect.map((rows) => rows.map(recordOf)), StorageError.refail("AuditStore.page"))
      },
      prune: (before) => StorageError.refail("AuditStore.prune")(prune(before))
    })
  })
)

const recordOf = (
  [id, at, actorKind, actorName, address, action, tenantId, objectKind, objectId, result, status, requestId]: ReadonlyArray<unknown>
): AuditRecord => ({
  id: id as string,
  at: at as number,
  actor: { kind: actorKind as AuditRecord["actor"]["kind"], name: actorName as string },
  address: (address as string | null) ?? undefined,
  action: action as string,
  tenantId: tenantId as string,
  object: { kind: objectKind as string, id: objectId as string },
  result: result as AuditRecord["result"],
  status: status as number,
  requestId: requestId as string
})
