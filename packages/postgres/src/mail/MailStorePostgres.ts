/** Waiting e-mails on Postgres. */
import { type ListRange, type Mail, mailsPerPrune, mailsPerTenant, MailStore } from "@waybill/core"
import { Effect } from "effect"
import { float8, int4, int8, row, text, timestamptz } from "../client/SqlRow.ts"
import { raw, type Statement, statement, tenant } from "../client/SqlStatement.ts"
import { pruneRows } from "../shared/PruneRows.ts"
import { storeLayer } from "../shared/StoreLayer.ts"

/** Returns a row unless too many wait, also for an id that is there. */
const putMail = (schema: Statement, tenantId: string, client: string, mail: Mail) => statement`
INSERT INTO ${schema}.mails (tenant_id, id, client, recipient, subject, body)
SELECT ${tenant(tenantId)}, ${text(mail.id)}, ${text(client)}, ${text(mail.to)}, ${text(mail.subject)}, ${text(mail.text)}
WHERE (SELECT count(*) + count(*) FILTER (WHERE waiting.client = ${text(client)}) FROM (SELECT m.client FROM ${schema}.mails AS m WHERE m.tenant_id = ${tenant(tenantId)} LIMIT ${int8(mailsPerTenant)}) AS waiting) < ${int8(mailsPerTenant)}
ON CONFLICT (tenant_id, id) DO UPDATE SET attempts = mails.attempts
RETURNING id`

/** Its time was set before the clock was set back. A minute is more than two transactions that run at the same time differ by. */
const isAhead = raw("m.scheduled_at > now() + interval '1 minute'")

/** Two looks at indexes for each tenant, however many mails wait. */
const tenantsWithMail = (schema: Statement, { after = "", limit }: ListRange) => statement`
SELECT t.tenant_id FROM ${schema}.tenants AS t
WHERE t.state <> 'deleted' AND t.tenant_id > ${after} AND (
  EXISTS (SELECT FROM ${schema}.mails AS m WHERE m.tenant_id = t.tenant_id AND m.due_at <= now())
  OR EXISTS (SELECT FROM ${schema}.mails AS m WHERE m.tenant_id = t.tenant_id AND ${isAhead})
)
ORDER BY t.tenant_id
LIMIT ${int8(limit)}`

const takenRow = row({ id: text, to: text, subject: text, text, attempt: int4, waitedMillis: float8 })

/** What is ahead waits from now on for the time that it was given: it may be with a process that sends it, for no longer than that. */
const takeMails = (schema: Statement, tenantId: string, limit: number, leaseMillis: number) => statement`
WITH due AS (
  SELECT id, due_at FROM ${schema}.mails WHERE tenant_id = ${tenant(tenantId)} AND due_at <= now()
  ORDER BY due_at LIMIT ${int8(limit)} FOR UPDATE SKIP LOCKED
),
ahead AS (
  SELECT id, now() + (m.due_at - m.scheduled_at) AS due_at FROM ${schema}.mails AS m
  WHERE m.tenant_id = ${tenant(tenantId)} AND ${isAhead} AND m.due_at > now() FOR UPDATE SKIP LOCKED
),
again AS (
  UPDATE ${schema}.mails AS m SET due_at = a.due_at, scheduled_at = now()
  FROM ahead AS a WHERE m.tenant_id = ${tenant(tenantId)} AND m.id = a.id
),
taken AS (
  UPDATE ${schema}.mails AS m SET attempts = m.attempts + 1, due_at = now() + make_interval(secs => ${float8(leaseMillis / 1000)}), scheduled_at = now()
  FROM due AS d WHERE m.tenant_id = ${tenant(tenantId)} AND m.id = d.id
  RETURNING m.id, m.recipient, m.subject, m.body, m.attempts, m.created_at, d.due_at
)
SELECT t.id, t.recipient, t.subject, t.body, t.attempts, extract(epoch FROM now() - t.created_at)::float8 * 1000 AS waited_millis
FROM taken AS t ORDER BY t.due_at`

const mailLag = (schema: Statement) => statement`
SELECT coalesce(greatest(extract(epoch FROM now() - min(due_at)), 0), 0)::float8 * 1000 AS lag_millis FROM ${schema}.mails`

const postponeMail = (schema: Statement, tenantId: string, id: string, millis: number) => statement`
UPDATE ${schema}.mails SET due_at = now() + make_interval(secs => ${float8(millis / 1000)}), scheduled_at = now()
WHERE tenant_id = ${tenant(tenantId)} AND id = ${text(id)}`

const removeMail = (schema: Statement, tenantId: string, id: string) =>
  statement`DELETE FROM ${schema}.mails WHERE tenant_id = ${tenant(tenantId)} AND id = ${text(id)}`

const pruneMails = (schema: Statement, tenantId: string, before: number) =>
  pruneRows(schema, tenantId, { table: "mails", key: ["id"], which: statement`created_at < ${timestamptz(before)} LIMIT ${int8(mailsPerPrune)}` })

export const layer = storeLayer(MailStore, ({ schema, sql }) => ({
  put: (tenantId, client, mail) => Effect.map(sql.rows(text, putMail(schema, tenantId, client, mail)), (rows) => rows.length > 0),
  tenants: (range) => sql.rows(text, tenantsWithMail(schema, range)),
  take: (tenantId, limit, leaseMillis) => sql.rows(takenRow, takeMails(schema, tenantId, limit, leaseMillis)),
  lagMillis: sql.one(float8, mailLag(schema)),
  postpone: (tenantId, id, millis) => sql.run(postponeMail(schema, tenantId, id, millis)),
  remove: (tenantId, id) => sql.run(removeMail(schema, tenantId, id)),
  prune: (tenantId, before) => sql.one(int8, pruneMails(schema, tenantId, before))
}))
