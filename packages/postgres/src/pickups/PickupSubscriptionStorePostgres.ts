/** Carriers' subscriptions to pickups on Postgres. */
import type { ListRange, SubscriptionRow } from "@waybill/core"
import { PickupSubscriptionStore, type TimeRange } from "@waybill/core/pickups"
import { Effect } from "effect"
import { isUuid } from "../access/AccessStorePostgres.ts"
import { bool, int8, timestamptz, uuid } from "../client/SqlRow.ts"
import { nothing, raw, type Statement, statement, tenant, value } from "../client/SqlStatement.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import { makeEditable } from "../subscriptions/EditableSubscriptions.ts"
import { type ReplayedLog, selectSubscriptions, subscriptionOf, subscriptionRow } from "../subscriptions/SubscriptionSql.ts"
import { clientSeesAccounts } from "./PickupPayloads.ts"

const insertSubscription = (schema: Statement, tenantId: string, { client, createdAt, doc, id, matched, updatedAt }: SubscriptionRow) => statement`
INSERT INTO ${schema}.pickup_subscriptions (tenant_id, id, client, doc, matched, created_at, updated_at)
VALUES (${tenant(tenantId)}, ${uuid(id)}, ${client}, ${doc}, ${matched}, ${timestamptz(createdAt)}, ${timestamptz(updatedAt)})`

const updateSubscription = (schema: Statement, tenantId: string, { doc, id, matched, updatedAt }: SubscriptionRow) => statement`
UPDATE ${schema}.pickup_subscriptions SET doc = ${doc}, matched = ${matched}, updated_at = ${timestamptz(updatedAt)}
WHERE tenant_id = ${tenant(tenantId)} AND id = ${uuid(id)}`

const emptySubscription = (schema: Statement, tenantId: string, id: string) => statement`
UPDATE ${schema}.pickup_subscriptions SET deleted_at = now(), doc = '{}'
WHERE tenant_id = ${tenant(tenantId)} AND id = ${uuid(id)}`

const seesPickup = (schema: Statement, tenantId: string, client: string, pickupId: string) => statement`
SELECT ${clientSeesAccounts(schema, tenant(tenantId), value(client), statement`p.accounts`)} AS sees
FROM ${schema}.pickups AS p
WHERE p.tenant_id = ${tenant(tenantId)} AND p.pickup_id = ${uuid(pickupId)}`

/** The changes of a time range. */
const replayedChanges = (schema: Statement, tenantId: string, { from, to = Infinity }: TimeRange): ReplayedLog => {
  const isWithin = statement`c.at >= ${timestamptz(from)} AND c.at < ${timestamptz(to)}`
  return {
    rows: statement`${schema}.pickup_changes AS c WHERE c.tenant_id = ${tenant(tenantId)}`,
    number: raw("c.change_no"),
    isWithin,
    entries: (condition) => statement`SELECT ${tenant(tenantId)}, w.id, c.pickup_id::text, c.change_no, c.change_no, octet_length(c.body)
  FROM wanted AS w
  JOIN ${schema}.pickup_changes AS c ON c.tenant_id = ${tenant(tenantId)}
  JOIN ${schema}.pickups AS p ON p.tenant_id = c.tenant_id AND p.pickup_id = c.pickup_id
  WHERE ${condition} AND (${isWithin}) IS TRUE
    AND ${clientSeesAccounts(schema, tenant(tenantId), statement`w.client`, statement`p.accounts`)}`
  }
}

export const layer = storeLayer(PickupSubscriptionStore, ({ schema, sql }) => {
  const table = statement`${schema}.pickup_subscriptions`

  const { documents, find, prune, remove, replay } = makeEditable(sql, schema, table, (tenantId, id) => sql.run(emptySubscription(schema, tenantId, id)))

  const list = (tenantId: string, client: string, { after, limit }: ListRange) => {
    const beyond = after === undefined ? nothing : statement`AND s.id > ${uuid(after)}`
    const page = statement`${selectSubscriptions(schema, table, tenantId, client)} ${beyond} ORDER BY s.id LIMIT ${int8(limit)}`
    return Effect.map(sql.rows(subscriptionRow, page), (rows) => rows.map(subscriptionOf))
  }

  const clientSees = Effect.fnUntraced(function*(tenantId: string, client: string, pickupId: string) {
    if (!isUuid(pickupId)) return false
    const [sees = false] = yield* sql.rows(bool, seesPickup(schema, tenantId, client, pickupId))
    return sees
  })

  return {
    insert: (tenantId, record) => sql.run(insertSubscription(schema, tenantId, record)),
    update: (tenantId, record) => sql.run(updateSubscription(schema, tenantId, record)),
    find,
    list,
    remove,
    prune,
    documents,
    clientSees,
    replay: (tenantId, id, range) => replay(tenantId, id, replayedChanges(schema, tenantId, range))
  }
})
