/** Notices to customers on Postgres. */
import { type NoticeKey, noticesPerPrune, NoticeStore, StorageError } from "@waybill/core"
import { Effect, Layer, Option } from "effect"
import { PgClient } from "../client/PgClient.ts"
import { int4, int8, row, text, uuid } from "../client/SqlRow.ts"
import { type Statement, statement, tenant } from "../client/SqlStatement.ts"
import { WaybillSchema } from "../shared/Schema.ts"

const contactOf = (schema: Statement, tenantId: string, client: string) =>
  statement`SELECT email FROM ${schema}.notice_contacts WHERE tenant_id = ${tenant(tenantId)} AND client = ${client}`

const putContact = (schema: Statement, tenantId: string, client: string, email: string) => statement`
INSERT INTO ${schema}.notice_contacts (tenant_id, client, email) VALUES (${tenant(tenantId)}, ${client}, ${email})
ON CONFLICT (tenant_id, client) DO UPDATE SET email = EXCLUDED.email`

const dropContact = (schema: Statement, tenantId: string, client: string) =>
  statement`DELETE FROM ${schema}.notice_contacts WHERE tenant_id = ${tenant(tenantId)} AND client = ${client}`

const claimedRow = row({ destinationId: uuid })

/** Returns a row for the one process whose insert found no other. */
const claimNotice = (schema: Statement, tenantId: string, { day, kind, subscriptionId }: NoticeKey) => statement`
INSERT INTO ${schema}.endpoint_notices (tenant_id, destination_id, kind, day)
VALUES (${tenant(tenantId)}, ${uuid(subscriptionId)}, ${kind}, ${int4(day)})
ON CONFLICT (tenant_id, destination_id, kind, day) DO NOTHING
RETURNING destination_id`

const prunedRow = row({ pruned: int8 })

const pruneNotices = (schema: Statement, tenantId: string, beforeDay: number) => statement`
WITH old AS (
  SELECT destination_id, kind, day FROM ${schema}.endpoint_notices
  WHERE tenant_id = ${tenant(tenantId)} AND day < ${int4(beforeDay)} ORDER BY day LIMIT ${int8(noticesPerPrune)}
),
gone AS (
  DELETE FROM ${schema}.endpoint_notices AS n USING old
  WHERE n.tenant_id = ${tenant(tenantId)} AND n.destination_id = old.destination_id AND n.kind = old.kind AND n.day = old.day
  RETURNING 1
)
SELECT count(*) AS pruned FROM gone`

export const layer = Layer.effect(
  NoticeStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { identifier: schema } = yield* WaybillSchema
    return NoticeStore.of({
      contact: (tenantId, client) =>
        sql.rows(text, contactOf(schema, tenantId, client)).pipe(Effect.map(([email]) => Option.fromUndefinedOr(email)), StorageError.refail("NoticeStore.contact")),
      setContact: (tenantId, client, email) =>
        sql.run(email === undefined ? dropContact(schema, tenantId, client) : putContact(schema, tenantId, client, email)).pipe(StorageError.refail("NoticeStore.setContact")),
      claim: (tenantId, key) => sql.rows(claimedRow, claimNotice(schema, tenantId, key)).pipe(Effect.map((rows) => rows.length > 0), StorageError.refail("NoticeStore.claim")),
      prune: (tenantId, beforeDay) =>
        sql.one(prunedRow, pruneNotices(schema, tenantId, beforeDay)).pipe(Effect.map(({ pruned }) => pruned), StorageError.refail("NoticeStore.prune"))
    })
  })
)
