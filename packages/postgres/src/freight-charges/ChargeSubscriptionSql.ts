/** SQL statements for charge subscriptions and their in-flight lists. */
import type { DestinationState, PausedBy } from "@waybill/core/delivery"
import type { ChargeSubscriptionRecord, InFlightBill } from "@waybill/core/freight-charges"
import { bytea, byteaArray, int4Array, int8, only, optional, row, text, textArray, timestamptz, uuid } from "../client/SqlRow.ts"
import { type Statement, statement, tenant, value } from "../client/SqlStatement.ts"
import { given, textLists } from "../shared/GivenRows.ts"

/** Serialises subscribing of one client. */
export const lockClient = (tenantId: string, client: string) => statement`
SELECT pg_advisory_xact_lock(hashtext('waybill charge client ' || ${tenant(tenantId)}), hashtext(${client}))::text AS held`

export const accountsOf = (schema: Statement, tenantId: string, client: string) =>
  statement`SELECT DISTINCT account FROM ${schema}.client_accounts WHERE tenant_id = ${tenant(tenantId)} AND client = ${client}`

export const coveredRow = row({ accountId: text, subscriptionId: uuid })

/** An account that a live subscription of the client has already; empty if both have all accounts. */
export const coveredAccount = (schema: Statement, tenantId: string, client: string, wanted: ReadonlyArray<string> | undefined) => {
  const accounts = textArray(wanted)
  return statement`
SELECT coalesce(
         (SELECT account FROM unnest(coalesce(${accounts}, s.accounts)) AS account
          WHERE s.accounts IS NULL OR account = ANY (s.accounts)
          LIMIT 1),
         ''
       ) AS account_id,
       s.id AS subscription_id
FROM ${schema}.freight_charge_subscriptions AS s
WHERE s.tenant_id = ${tenant(tenantId)} AND s.client = ${client} AND s.cancelled_at IS NULL
  AND (${accounts} IS NULL OR s.accounts IS NULL OR s.accounts && ${accounts})
LIMIT 1`
}

export const insertSubscription = (schema: Statement, tenantId: string, { accounts, createdAt, doc, webhookUrl, ...record }: ChargeSubscriptionRecord) => {
  const own = tenant(tenantId)
  const [id, client] = [uuid(record.id), value(record.client)]
  const routes = accounts === undefined ? [`c:${record.client}`] : accounts.map((account) => `a:${account}`)
  return statement`
WITH stored AS (
  INSERT INTO ${schema}.freight_charge_subscriptions (tenant_id, id, client, doc, webhook_url, accounts, created_at)
  VALUES (${own}, ${id}, ${client}, ${doc}, ${webhookUrl}, ${textArray(accounts)}, ${timestamptz(createdAt)})
)
INSERT INTO ${schema}.freight_charge_routes (tenant_id, route, subscription_id, client)
SELECT ${own}::text, route, ${id}, ${client}::text FROM unnest(${textArray(routes)}) AS route`
}

export const addInFlight = (schema: Statement, tenantId: string, id: string, bills: ReadonlyArray<InFlightBill>) => statement`
INSERT INTO ${schema}.freight_charge_in_flight (tenant_id, subscription_id, bill_id, version, body, accounts)
SELECT ${tenant(tenantId)}, ${uuid(id)}, g.bill_id, g.version, g.body, g.accounts::text[]
FROM ${given("g", bills, { billId: textArray, version: int4Array, body: byteaArray, accounts: textLists })}`

/** One lookup for each bill of the list. Every change of a bill raises its version. */
export const removeChanged = (schema: Statement, tenantId: string, id: string) => {
  const own = tenant(tenantId)
  return statement`
DELETE FROM ${schema}.freight_charge_in_flight AS i
WHERE i.tenant_id = ${own} AND i.subscription_id = ${uuid(id)} AND NOT EXISTS (
  SELECT FROM ${schema}.freight_bills AS b
  WHERE b.tenant_id = ${own} AND b.bill_id = i.bill_id AND b.version = i.version AND b.state = 'open'
  OFFSET 0
)`
}

/** A separate statement after the lock, so that it sees entries of the transactions that the lock waited for. */
export const cancelSubscription = (schema: Statement, tenantId: string, client: string, id: string) => statement`
WITH gone AS (
  UPDATE ${schema}.freight_charge_subscriptions
  SET cancelled_at = now(), closes_at = NULL
  WHERE tenant_id = ${tenant(tenantId)} AND client = ${client} AND id = ${uuid(id)} AND cancelled_at IS NULL
  RETURNING id
),
routes AS (
  DELETE FROM ${schema}.freight_charge_routes AS r USING gone WHERE r.tenant_id = ${tenant(tenantId)} AND r.subscription_id = gone.id
),
collected AS (
  DELETE FROM ${schema}.freight_charge_collected AS c USING gone WHERE c.tenant_id = ${tenant(tenantId)} AND c.subscription_id = gone.id
)
SELECT count(*) AS cancelled FROM gone`

export const subscriptionRow = row({
  id: uuid,
  client: text,
  doc: text,
  createdAt: timestamptz,
  cancelledAt: optional(timestamptz),
  state: optional(only<DestinationState>(text)),
  reason: optional(text),
  since: optional(timestamptz),
  pausedBy: optional(only<PausedBy>(text))
})

const selectSubscriptions = (schema: Statement, tenantId: string) => statement`
SELECT s.id, s.client, s.doc, s.created_at, s.cancelled_at, l.state, l.state_reason, l.state_since, l.paused_by
FROM ${schema}.freight_charge_subscriptions AS s
LEFT JOIN ${schema}.delivery_destinations AS l ON l.tenant_id = s.tenant_id AND l.destination_id = s.id
WHERE s.tenant_id = ${tenant(tenantId)}`

export const findSubscription = (schema: Statement, tenantId: string, client: string, id: string) =>
  statement`${selectSubscriptions(schema, tenantId)} AND s.client = ${client} AND s.id = ${uuid(id)}`

export const findAnySubscription = (schema: Statement, tenantId: string, id: string) =>
  statement`${selectSubscriptions(schema, tenantId)} AND s.id = ${uuid(id)}`

export const subscriptionsDeliveringTo = (schema: Statement, tenantId: string, client: string, webhookUrl: string) =>
  statement`${selectSubscriptions(schema, tenantId)} AND s.client = ${client} AND s.webhook_url = ${webhookUrl} AND s.cancelled_at IS NULL ORDER BY s.id`

export const inFlightRow = row({ billId: text, body: bytea })

interface InFlightRange {
  readonly after?: string | undefined
  readonly limit: number
  readonly bytes: number
}

export const inFlight = (schema: Statement, tenantId: string, name: string, id: string, { after = "", bytes, limit }: InFlightRange) => {
  const client = value(name)
  return statement`
SELECT i.bill_id, i.body
FROM (
  SELECT i.*, sum(octet_length(i.body)) OVER (ORDER BY i.bill_id) - octet_length(i.body) AS bytes_before
  FROM (
    SELECT i.bill_id, i.body
    FROM ${schema}.freight_charge_subscriptions AS s
    JOIN ${schema}.freight_charge_in_flight AS i ON i.tenant_id = ${tenant(tenantId)} AND i.subscription_id = s.id
    WHERE s.tenant_id = ${tenant(tenantId)} AND s.client = ${client} AND s.id = ${uuid(id)}
      AND i.bill_id > ${after}
      AND EXISTS (
        SELECT FROM ${schema}.client_accounts AS ca
        WHERE ca.tenant_id = ${tenant(tenantId)} AND ca.client = ${client} AND ca.account = ANY (i.accounts)
      )
    ORDER BY i.bill_id
    LIMIT ${int8(limit)}
  ) AS i
) AS i
WHERE i.bytes_before < ${int8(bytes)}
ORDER BY i.bill_id`
}
