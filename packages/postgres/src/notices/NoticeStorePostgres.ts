/** Notices to customers on Postgres. */
import { type NoticeContacts, type NoticeKey, type NoticeKind, noNoticeContacts, noticesPerPrune, NoticeStore, type WebhookNotice } from "@waybill/core"
import { Effect } from "effect"
import { bytea, int4, int8, only, optional, row, text, textArray, uuid } from "../client/SqlRow.ts"
import { type Statement, statement, tenant } from "../client/SqlStatement.ts"
import { pruneLowest } from "../delivery/NoticeRetention.ts"
import type { PayloadSource } from "../delivery/PayloadSource.ts"
import { queueEntries, signalQueued } from "../delivery/DeliveryEntrySql.ts"
import { pruneRows } from "../shared/PruneRows.ts"
import { storeLayer } from "../shared/StoreLayer.ts"

/** A notice is queued for its own client only. */
export const noticePayloads: PayloadSource = {
  source: "notices",
  table: "webhook_notices",
  ref: "notice_no",
  orderId: "notice_id",
  key: `subject_id::text COLLATE "C"`,
  sequence: "notice_no",
  judged: "one by one",
  visible: () => "true"
}

const kinds = optional(only<ReadonlyArray<NoticeKind>, ReadonlyArray<string>>(textArray))

const contactsRow = row({ email: optional(text), emailKinds: kinds, webhookId: optional(uuid), webhookKinds: kinds })

const contactsOf = (schema: Statement, tenantId: string, client: string) =>
  statement`SELECT ${contactsRow.columns()} FROM ${schema}.notice_contacts WHERE tenant_id = ${tenant(tenantId)} AND client = ${client}`

/** Writes the row, so that two calls that set contacts for the first time wait for each other. */
const lockContacts = (schema: Statement, tenantId: string, client: string) => statement`
INSERT INTO ${schema}.notice_contacts (tenant_id, client) VALUES (${tenant(tenantId)}, ${client})
ON CONFLICT (tenant_id, client) DO UPDATE SET email = notice_contacts.email
RETURNING ${contactsRow.columns()}`

const putContacts = (schema: Statement, tenantId: string, client: string, { email, emailKinds, webhookId, webhookKinds }: NoticeContacts) => statement`
INSERT INTO ${schema}.notice_contacts (tenant_id, client, email, email_kinds, webhook_id, webhook_kinds)
VALUES (${tenant(tenantId)}, ${client}, ${text(email)}, ${textArray(emailKinds)}, ${uuid(webhookId)}, ${textArray(webhookKinds)})
ON CONFLICT (tenant_id, client) DO UPDATE
SET email = EXCLUDED.email, email_kinds = EXCLUDED.email_kinds, webhook_id = EXCLUDED.webhook_id, webhook_kinds = EXCLUDED.webhook_kinds`

const dropContacts = (schema: Statement, tenantId: string, client: string) =>
  statement`DELETE FROM ${schema}.notice_contacts WHERE tenant_id = ${tenant(tenantId)} AND client = ${client}`

const clearWebhook = (schema: Statement, tenantId: string, client: string, webhookId: string) => statement`
UPDATE ${schema}.notice_contacts SET webhook_id = NULL WHERE tenant_id = ${tenant(tenantId)} AND client = ${client} AND webhook_id = ${uuid(webhookId)}`

/** Returns a row for the one process whose insert found no other. */
const claimNotice = (schema: Statement, tenantId: string, { day, kind, subscriptionId }: NoticeKey) => statement`
INSERT INTO ${schema}.endpoint_notices (tenant_id, destination_id, kind, day)
VALUES (${tenant(tenantId)}, ${uuid(subscriptionId)}, ${kind}, ${int4(day)})
ON CONFLICT (tenant_id, destination_id, kind, day) DO NOTHING
RETURNING destination_id`

const queueNotice = (schema: Statement, tenantId: string, { body, noticeId, subscriptionId, traceparent, webhookId }: WebhookNotice) => {
  const entries = statement`SELECT ${tenant(tenantId)}, w.destination_id, n.subject_id::text, n.notice_no, n.notice_no, octet_length(n.body)
  FROM stored AS n, webhook AS w`
  return statement`
WITH webhook AS (
  SELECT destination_id FROM ${schema}.delivery_destinations
  WHERE tenant_id = ${tenant(tenantId)} AND destination_id = ${uuid(webhookId)} AND state <> 'closed'
),
stored AS (
  INSERT INTO ${schema}.webhook_notices (tenant_id, notice_id, subject_id, traceparent, body)
  SELECT ${tenant(tenantId)}, ${text(noticeId)}, ${uuid(subscriptionId)}, ${text(traceparent)}, ${bytea(body)} FROM webhook
  RETURNING notice_no, subject_id, body
),
queued AS (
  ${queueEntries(schema, entries)}
)
${signalQueued(schema, tenant(tenantId))}`
}

const pruneBodies = (schema: Statement, tenantId: string, before: number) =>
  pruneLowest(schema, tenantId, before, noticePayloads, { most: noticesPerPrune })

const pruneNotices = (schema: Statement, tenantId: string, beforeDay: number) => {
  const which = statement`day < ${int4(beforeDay)} ORDER BY day LIMIT ${int8(noticesPerPrune)}`
  return pruneRows(schema, tenantId, { table: "endpoint_notices", key: ["destination_id", "kind", "day"], which })
}

export const layer = storeLayer(NoticeStore, ({ schema, sql }) => ({
  contacts: (tenantId, client, forUpdate = false) =>
    Effect.map(sql.rows(contactsRow, forUpdate ? lockContacts(schema, tenantId, client) : contactsOf(schema, tenantId, client)), ([found = noNoticeContacts]) => found),
  setContacts: (tenantId, client, contacts) =>
    sql.run(contacts.email === undefined && contacts.webhookId === undefined ? dropContacts(schema, tenantId, client) : putContacts(schema, tenantId, client, contacts)),
  endWebhook: (tenantId, client, webhookId) => sql.run(clearWebhook(schema, tenantId, client, webhookId)),
  queue: (tenantId, notice) => sql.run(queueNotice(schema, tenantId, notice)),
  pruneBodies: (tenantId, before) => sql.one(int8, pruneBodies(schema, tenantId, before)),
  claim: (tenantId, key) => Effect.map(sql.rows(uuid, claimNotice(schema, tenantId, key)), (rows) => rows.length > 0),
  prune: (tenantId, beforeDay) => sql.one(int8, pruneNotices(schema, tenantId, beforeDay))
}))
