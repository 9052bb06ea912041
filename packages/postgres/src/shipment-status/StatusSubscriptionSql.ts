/** SQL statements for status subscriptions. */
import type { StatusSubscriptionRecord } from "@waybill/core/shipment-status"
import { int8, textArray, timestamptz, uuid } from "../client/SqlRow.ts"
import { type Statement, statement, tenant, value } from "../client/SqlStatement.ts"

export const insertSubscription = (
  schema: Statement,
  tenantId: string,
  { createdAt, doc, references, ...subscription }: StatusSubscriptionRecord
) => {
  const [id, client] = [uuid(subscription.id), value(subscription.client)]
  return statement`
WITH stored AS (
  INSERT INTO ${schema}.shipment_status_subscriptions (tenant_id, id, client, doc, created_at)
  VALUES (${tenant(tenantId)}, ${id}, ${client}, ${doc}, ${timestamptz(createdAt)})
)
INSERT INTO ${schema}.shipment_status_routes (tenant_id, reference, subscription_id, client)
SELECT DISTINCT ${tenant(tenantId)}, reference, ${id}, ${client} FROM unnest(${textArray(references)}) AS reference`
}

export const mostOfReference = (schema: Statement, tenantId: string, name: string, references: ReadonlyArray<string>, most: number) => {
  const client = value(name)
  return statement`
SELECT COALESCE(max(r.count), 0) AS most
FROM unnest(${textArray(references)}) AS asked (reference)
CROSS JOIN LATERAL (
  SELECT count(*) FROM (
    SELECT FROM ${schema}.shipment_status_routes AS r
    WHERE r.tenant_id = ${tenant(tenantId)} AND r.reference = asked.reference AND r.client = ${client}
    LIMIT ${int8(most)}
  ) AS r
) AS r`
}

/** Returns how many were removed. */
export const removeSubscription = (schema: Statement, tenantId: string, client: string, id: string) => statement`
WITH gone AS (
  DELETE FROM ${schema}.shipment_status_subscriptions WHERE tenant_id = ${tenant(tenantId)} AND client = ${client} AND id = ${uuid(id)}
  RETURNING id
),
routes AS (
  DELETE FROM ${schema}.shipment_status_routes AS r USING gone WHERE r.tenant_id = ${tenant(tenantId)} AND r.subscription_id = gone.id
)
SELECT count(*) AS removed FROM gone`
