/** Carriers' subscriptions to pickups on Postgres. */
import type { ListRange } from "@waybill/core"
import { type PickupSubscriptionRecord, PickupSubscriptionStore, type TimeRange } from "@waybill/core/pickups"
import { Effect, Layer, Option } from "effect"
import { isUuid } from "../access/AccessStorePostgres.ts"
import { bool, int8, row, timestamptz, uuid } from "../client/SqlRow.ts"
import { nothing, type Statement, statement, tenant, value } from "../client/SqlStatement.ts"
import { queueEntries, signalQueued } from "../delivery/DeliveryEntrySql.ts"
import { database } from "../shared/Database.ts"
import { operationsOf } from "../shared/Operations.ts"
import { makeEditable } from "../subscriptions/EditableSubscriptions.ts"
import { selectSubscriptions, subscriptionOf, subscriptionRow } from "../subscriptions/SubscriptionSql.ts"
import { clientSeesAccounts } from "./PickupPayloads.ts"

const insertSubscription = (schema: Statement, tenantId: string, { client, createdAt, doc, id, matched, updatedAt }: PickupSubscriptionRecord) => statement`
INSERT INTO ${schema}.pickup_subscriptions (tenant_id, id, client, doc, matched, created_at, updated_at)
VALUES (${tenant(tenantId)}, ${uuid(id)}, ${client}, ${doc}, ${matched}, ${timestamptz(createdAt)}, ${timestamptz(updatedAt)})`

const updateSubscription = (schema: Statement, tenantId: string, { doc, id, matched, updatedAt }: PickupSubscriptionRecord) => statement`
UPDATE ${schema}.pickup_subscriptions SET doc = ${doc}, matched = ${matched}, updated_at = ${timestamptz(updatedAt)}
WHERE tenant_id = ${tenant(tenantId)} AND id = ${uuid(id)} AND deleted_at IS NULL`

const emptySubscription = (schema: Statement, tenantId: string, id: string) => statement`
UPDATE ${schema}.pickup_subscriptions SET deleted_at = now(), doc = '{}', matched = false
WHERE tenant_id = ${tenant(tenantId)} AND id = ${uuid(id)}`

const seesPickup = (schema: Statement, tenantId: string, client: string, pickupId: string) => statement`
SELECT ${clientSeesAccounts(schema, tenant(tenantId), value(client), statement`p.accounts`)} AS sees
FROM ${schema}.pickups AS p
WHERE p.tenant_id = ${tenant(tenantId)} AND p.pickup_id = ${uuid(pickupId)}`

const replayedRow = row({ isFound: bool, queued: int8 })

/** Returns whether the subscription exists, and how many entries were queued again; those that wait already stay. */
const replayChanges = (schema: Statement, tenantId: string, id: string, { from, to = Infinity }: TimeRange) => {
  const changes = statement`SELECT ${tenant(tenantId)}, w.id, c.pickup_id::text, c.change_no, c.change_no, octet_length(c.body)
  FROM wanted AS w
  JOIN ${schema}.pickup_changes AS c ON c.tenant_id = ${tenant(tenantId)}
  JOIN ${schema}.pickups AS p ON p.tenant_id = c.tenant_id AND p.pickup_id = c.pickup_id
  WHERE c.at >= ${timestamptz(from)} AND c.at < ${timestamptz(to)}
    AND ${clientSeesAccounts(schema, tenant(tenantId), statement`w.client`, statement`p.accounts`)}
  ON CONFLICT DO NOTHING`
  return statement`
WITH wanted AS (
  SELECT s.id, s.client FROM ${schema}.pickup_subscriptions AS s
  WHERE s.tenant_id = ${tenant(tenantId)} AND s.id = ${uuid(id)} AND s.deleted_at IS NULL
),
queued AS (
  ${queueEntries(schema, changes)}
),
signalled AS (
  ${signalQueued(schema, tenant(tenantId))}
)
SELECT EXISTS (SELECT FROM wanted) AS found, (SELECT count(*) FROM queued) AS queued`
}

export const layer = Layer.effect(
  PickupSubscriptionStore,
  Effect.gen(function*() {
    const { schema, sql } = yield* database
    const table = statement`${schema}.pickup_subscriptions`

    const { documents, find, remove } = makeEditable(sql, schema, table, (tenantId, id) => sql.run(emptySubscription(schema, tenantId, id)))

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

    const replay = Effect.fnUntraced(function*(tenantId: string, id: string, range: TimeRange) {
      if (!isUuid(id)) return Option.none<number>()
      const { isFound, queued } = yield* sql.one(replayedRow, replayChanges(schema, tenantId, id, range))
      return isFound ? Option.some(queued) : Option.none<number>()
    })

    return operationsOf(PickupSubscriptionStore, {
      insert: (tenantId, record) => sql.run(insertSubscription(schema, tenantId, record)),
      update: (tenantId, record) => sql.run(updateSubscription(schema, tenantId, record)),
      find: (tenantId, client, id, forUpdate = false) => find(tenantId, client, id, forUpdate),
      list,
      remove,
      documents,
      clientSees,
      replay
    })
  })
)
