/** Pickups on Postgres. */
import {
  type PickupHistoryEntry,
  PickupNumberTaken,
  type PickupRow,
  PickupStore,
  type PickupViewer,
  StorageError
} from "@waybill/core"
import { Effect, Layer, Option } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { isUuid } from "../access/AccessStorePostgres.ts"
import { type BulkValue, textArray, timestamptzArray, uuidArray } from "../client/PgBulk.ts"
import { PgClient } from "../client/PgClient.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import * as statements from "./PickupSql.ts"

const pickupColumns = ["uuid", "text", "bool", "text", "text[]", "text", "timestamptz", "text[]"] as const

export const layer = Layer.effect(
  PickupStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { quoted: schema } = yield* WaybillSchema

    const findFirst = (text: string, values: ReadonlyArray<BulkValue>) =>
      Effect.map(sql.bulk(text, values, pickupColumns), ([row]) => row === undefined ? Option.none<PickupRow>() : Option.some(pickupOf(row)))

    const answered = Effect.fnUntraced(function*(tenantId: string, client: string, key: string) {
      yield* sql.bulk(statements.lockAnswer, [tenantId, client, key], ["text"])
      const [row] = yield* sql.bulk(
        `SELECT fingerprint, answer FROM ${schema}.pickup_answers WHERE tenant_id = $1 AND client = $2 AND key = $3`,
        [tenantId, client, key],
        ["text", "text"]
      )
      return row === undefined ? Option.none() : Option.some({ fingerprint: row[0] as string, answer: row[1] as string })
    })

    const put = (operation: string, statement: string, pickup: PickupRow, values: ReadonlyArray<BulkValue>) =>
      sql.bulk(statement, values).pipe(
        Effect.asVoid,
        Effect.mapError((error: SqlError) =>
          error.reason._tag === "UniqueViolation" && pickup.number !== undefined
            ? new PickupNumberTaken({ number: pickup.number })
            : new StorageError({ operation, cause: error })
        )
      )

    const ofPros = Effect.fnUntraced(function*(tenantId: string, pros: ReadonlyArray<string>, limit: number) {
      const found = (yield* sql.bulk(statements.pickupsOfPros(schema), [tenantId, textArray(pros), limit], pickupColumns)).map(pickupOf)
      if (found.length === 0) return []
      const entries = yield* sql.bulk(
        statements.historiesOf(schema),
        [tenantId, uuidArray(found.map(({ pickupId }) => pickupId))],
        ["uuid", "int8", "timestamptz", "text"]
      )
      const histories = new Map(found.map(({ pickupId }) => [pickupId, [] as Array<PickupHistoryEntry>]))
      for (const [pickupId, ...entry] of entries) histories.get(pickupId as string)!.push(entryOf(pickupId as string, entry))
      return found.map((pickup) => ({ pickup, history: histories.get(pickup.pickupId)! }))
    })

    return PickupStore.of({
      answered: (tenantId, client, key) => StorageError.refail("PickupStore.answered")(answered(tenantId, client, key)),
      remember: (tenantId, client, key, { answer, fingerprint }) =>
        sql.bulk(
          `INSERT INTO ${schema}.pickup_answers (tenant_id, client, key, fingerprint, answer) VALUES ($1, $2, $3, $4, $5)`,
          [tenantId, client, key, fingerprint, answer]
        ).pipe(Effect.asVoid, StorageError.refail("PickupStore.remember")),
      nextNumber: (tenantId, isTest) =>
        sql.bulk(
          `INSERT INTO ${schema}.pickup_counters AS c (tenant_id, is_test, last) VALUES ($1, $2, 1)
           ON CONFLICT (tenant_id, is_test) DO UPDATE SET last = c.last + 1
           RETURNING last`,
          [tenantId, isTest],
          ["int8"]
        ).pipe(Effect.map(([row]) => row![0] as number), StorageError.refail("PickupStore.nextNumber")),
      insert: (tenantId, pickup, history) =>
        put("PickupStore.insert", statements.insertPickup(schema), pickup, [
          ...changesOf(tenantId, pickup, history),
          pickup.isTest,
          pickup.client,
          timestamptzArray([pickup.createdAt])
        ]),
      update: (tenantId, pickup, history) =>
        put("PickupStore.update", statements.updatePickup(schema), pickup, changesOf(tenantId, pickup, history)),
      find: (tenantId, viewer, { isTest, number }, forUpdate = false) =>
        findFirst(
          `${statements.selectPickups(schema)} AND p.number = $2 AND p.is_test = $3 ${seenBy(viewer, 4)} ${forUpdate ? "FOR UPDATE OF p" : ""}`,
          [tenantId, number, isTest, ...valuesOf(viewer)]
        ).pipe(StorageError.refail("PickupStore.find")),
      findByPro: (tenantId, viewer, { isTest, pro }) =>
        findFirst(
          `${statements.selectPickups(schema)}
           AND p.pickup_id IN (SELECT r.pickup_id FROM ${schema}.pickup_pros AS r WHERE r.tenant_id = $1 AND r.pro = $2)
           AND p.is_test = $3 AND p.number IS NOT NULL ${seenBy(viewer, 4)}
           ORDER BY p.created_at DESC, p.pickup_id DESC
           LIMIT 1`,
          [tenantId, pro, isTest, ...valuesOf(viewer)]
        ).pipe(StorageError.refail("PickupStore.findByPro")),
      findById: (tenantId, viewer, pickupId) =>
        !isUuid(pickupId) ? Effect.succeedNone : findFirst(
          `${statements.selectPickups(schema)} AND p.pickup_id = $2::uuid ${seenBy(viewer, 3)} FOR UPDATE OF p`,
          [tenantId, pickupId, ...valuesOf(viewer)]
        ).pipe(StorageError.refail("PickupStore.findById")),
      ofPros: (tenantId, pros, limit) => StorageError.refail("PickupStore.ofPros")(ofPros(tenantId, pros, limit)),
      history: (tenantId, pickupId) =>
        !isUuid(pickupId) ? Effect.succeed([]) : sql.bulk(
          `SELECT position, at, doc FROM ${schema}.pickup_history WHERE tenant_id = $1 AND pickup_id = $2::uuid ORDER BY position`,
          [tenantId, pickupId],
          ["int8", "timestamptz", "text"]
        ).pipe(
          Effect.map((rows) => rows.map((row) => entryOf(pickupId, row))),
          StorageError.refail("PickupStore.history")
        ),
      prune: (tenantId, before) =>
        sql.bulk(statements.prunePickups(schema), [tenantId, timestamptzArray([before.ordered, before.answered])], ["int8"]).pipe(
          Effect.map(([row]) => row![0] as number),
          StorageError.refail("PickupStore.prune")
        )
    })
  })
)

const entryOf = (pickupId: string, [position, at, doc]: ReadonlyArray<unknown>): PickupHistoryEntry => ({
  pickupId,
  position: position as number,
  at: at as number,
  doc: doc as string
})

const changesOf = (tenantId: string, pickup: PickupRow, history: PickupHistoryEntry): ReadonlyArray<BulkValue> => [
  tenantId,
  pickup.pickupId,
  pickup.number ?? null,
  textArray([...pickup.accounts, ...pickup.carrier ?? []]),
  pickup.doc,
  textArray(pickup.pros),
  history.position,
  history.doc,
  timestamptzArray([history.at])
]

/** The condition that a viewer sees pickup `p`. Its parameters are those of `valuesOf`, numbered from `from`. A carrier also sees pickups that no carrier has decided. */
const seenBy = (viewer: PickupViewer, from: number): string => {
  if (viewer === "all") return ""
  return "carrier" in viewer
    ? `AND (p.accounts && $${from}::text[] OR NOT EXISTS (SELECT FROM unnest(p.accounts) AS account WHERE account LIKE ' %'))`
    : `AND (p.client = $${from} OR p.accounts && $${from + 1}::text[])`
}

const valuesOf = (viewer: PickupViewer): ReadonlyArray<BulkValue> => {
  if (viewer === "all") return []
  return "carrier" in viewer ? [textArray(viewer.carrier)] : [viewer.client, textArray(viewer.accounts)]
}

/** Column `accounts` also has the carrier's numbers, which start with a blank (` dot 123`). */
const isCarrierNumber = (account: string): boolean => account.startsWith(" ")

const pickupOf = ([pickupId, number, isTest, client, accounts, doc, createdAt, pros]: ReadonlyArray<unknown>): PickupRow => ({
  pickupId: pickupId as string,
  number: (number as string | null) ?? undefined,
  isTest: isTest as boolean,
  client: client as string,
  accounts: (accounts as ReadonlyArray<string>).filter((account) => !isCarrierNumber(account)),
  carrier: (accounts as ReadonlyArray<string>).some(isCarrierNumber) ? (accounts as ReadonlyArray<string>).filter(isCarrierNumber) : undefined,
  doc: doc as string,
  createdAt: createdAt as number,
  pros: pros as ReadonlyArray<string>
})
