/** Carriers' subscriptions to pickups on Postgres. */
import {
  type DestinationState,
  type ListRange,
  type PausedBy,
  type PickupSubscriptionRecord,
  PickupSubscriptionStore,
  StorageError,
  type StoredPickupSubscription
} from "@waybill/core"
import { Effect, Layer, Option } from "effect"
import { isUuid } from "../access/AccessStorePostgres.ts"
import { PgClient } from "../client/PgClient.ts"
import { bool, type Decoded, int8, only, optional, row, text, timestamptz, uuid } from "../client/SqlRow.ts"
import { nothing, raw, type Statement, statement, tenant } from "../client/SqlStatement.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import { makeDocuments } from "../shared/SubscriptionDocuments.ts"

const insertSubscription = (schema: Statement, tenantId: string, { client, createdAt, doc, id, matched, updatedAt }: PickupSubscriptionRecord) => statement`
INSERT INTO ${schema}.pickup_subscriptions (tenant_id, id, client, doc, matched, created_at, updated_at)
VALUES (${tenant(tenantId)}, ${uuid(id)}, ${client}, ${doc}, ${matched}, ${timestamptz(createdAt)}, ${timestamptz(updatedAt)})`

const updateSubscription = (schema: Statement, tenantId: string, { doc, id, matched, updatedAt }: PickupSubscriptionRecord) => statement`
UPDATE ${schema}.pickup_subscriptions SET doc = ${doc}, matched = ${matched}, updated_at = ${timestamptz(updatedAt)}
WHERE tenant_id = ${tenant(tenantId)} AND id = ${uuid(id)} AND deleted_at IS NULL`

const subscriptionRow = row({
  id: uuid,
  client: text,
  doc: text,
  createdAt: timestamptz,
  updatedAt: timestamptz,
  state: only<DestinationState>(text),
  reason: optional(text),
  since: timestamptz,
  pausedBy: optional(only<PausedBy>(text))
})

const selectSubscriptions = (schema: Statement, tenantId: string, client: string) => statement`
SELECT s.id, s.client, s.doc, s.created_at, s.updated_at, l.state, l.state_reason, l.state_since, l.paused_by
FROM ${schema}.pickup_subscriptions AS s
JOIN ${schema}.delivery_destinations AS l ON l.tenant_id = s.tenant_id AND l.destination_id = s.id
WHERE s.tenant_id = ${tenant(tenantId)} AND s.client = ${client} AND s.deleted_at IS NULL`

/** Locks the destination as well, so that no pause which is committed meanwhile is written over. */
const lockedWithDestination = raw("FOR UPDATE OF s FOR NO KEY UPDATE OF l")

const lockSubscription = (schema: Statement, tenantId: string, client: string, id: string) => statement`
SELECT deleted_at IS NOT NULL AS deleted FROM ${schema}.pickup_subscriptions
WHERE tenant_id = ${tenant(tenantId)} AND client = ${client} AND id = ${uuid(id)} FOR UPDATE`

/** The empty row stays, so that deleting again succeeds. */
const emptySubscription = (schema: Statement, tenantId: string, id: string) => statement`
UPDATE ${schema}.pickup_subscriptions SET deleted_at = now(), doc = '{}', matched = false
WHERE tenant_id = ${tenant(tenantId)} AND id = ${uuid(id)}`

export const layer = Layer.effect(
  PickupSubscriptionStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { identifier: schema } = yield* WaybillSchema

    const find = Effect.fnUntraced(function*(tenantId: string, client: string, id: string, forUpdate: boolean) {
      if (!isUuid(id)) return Option.none<StoredPickupSubscription>()
      const found = statement`${selectSubscriptions(schema, tenantId, client)} AND s.id = ${uuid(id)} ${forUpdate ? lockedWithDestination : nothing}`
      return Option.map(Option.fromUndefinedOr((yield* sql.rows(subscriptionRow, found))[0]), subscriptionOf)
    })

    const list = (tenantId: string, client: string, { after, limit }: ListRange) => {
      const beyond = after === undefined ? nothing : statement`AND s.id > ${uuid(after)}`
      const page = statement`${selectSubscriptions(schema, tenantId, client)} ${beyond} ORDER BY s.id LIMIT ${int8(limit)}`
      return Effect.map(sql.rows(subscriptionRow, page), (rows) => rows.map(subscriptionOf))
    }

    const remove = Effect.fnUntraced(function*(tenantId: string, client: string, id: string) {
      if (!isUuid(id)) return "unknown" as const
      const [isDeleted] = yield* sql.rows(bool, lockSubscription(schema, tenantId, client, id))
      if (isDeleted === undefined) return "unknown" as const
      if (isDeleted) return "gone" as const
      yield* sql.run(emptySubscription(schema, tenantId, id))
      return "removed" as const
    })

    const documents = makeDocuments(sql, statement`${schema}.pickup_subscriptions`, statement`deleted_at IS NULL`)

    return PickupSubscriptionStore.of({
      insert: (tenantId, record) => sql.run(insertSubscription(schema, tenantId, record)).pipe(StorageError.refail("PickupSubscriptionStore.insert")),
      update: (tenantId, record) => sql.run(updateSubscription(schema, tenantId, record)).pipe(StorageError.refail("PickupSubscriptionStore.update")),
      find: (tenantId, client, id, forUpdate = false) => StorageError.refail("PickupSubscriptionStore.find")(find(tenantId, client, id, forUpdate)),
      list: (tenantId, client, range) => StorageError.refail("PickupSubscriptionStore.list")(list(tenantId, client, range)),
      remove: (tenantId, client, id) => sql.withTransaction(remove(tenantId, client, id)).pipe(StorageError.refail("PickupSubscriptionStore.remove")),
      documents: (tenantId, ids) => StorageError.refail("PickupSubscriptionStore.documents")(documents(tenantId, ids))
    })
  })
)

const subscriptionOf = ({ client, createdAt, doc, id, updatedAt, ...destination }: Decoded<typeof subscriptionRow>): StoredPickupSubscription =>
  ({ id, client, doc, createdAt, updatedAt, destination })
