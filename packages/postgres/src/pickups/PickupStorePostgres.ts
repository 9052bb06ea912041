/** Pickups on Postgres. */
import { maxHistoryBytes } from "@waybill/core"
import {
  changesPerRead,
  type PickupChangeRange,
  type PickupHistoryEntry,
  PickupNumberTaken,
  type PickupRow,
  PickupStore
} from "@waybill/core/pickups"
import { Effect, Option } from "effect"
import { isUuid } from "../access/AccessStorePostgres.ts"
import { type Decoded, int8, type StatementRunner, text } from "../client/SqlRow.ts"
import type { Statement } from "../client/SqlStatement.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import * as statements from "./PickupSql.ts"

export const layer = storeLayer(PickupStore, ({ lookup, schema, sql, takeLock }) => {
  const findFirst = (statement: Statement, forUpdate = false) =>
    Effect.map(forUpdate ? sql.rows(statements.pickupRow, statement) : lookup((sql) => sql.rows(statements.pickupRow, statement)), ([row]) => Option.map(Option.fromUndefinedOr(row), pickupOf))

  const answered = Effect.fnUntraced(function*(tenantId: string, client: string, key: string) {
    yield* takeLock(tenantId, text, statements.lockAnswer(tenantId, client, key))
    const [answer] = yield* sql.rows(statements.answerRow, statements.selectAnswer(schema, tenantId, client, key))
    return Option.fromUndefinedOr(answer)
  })

  const put = (statement: Statement, { number }: PickupRow) =>
    Effect.mapError(sql.run(statement), (error) => error.reason._tag === "UniqueViolation" && number !== undefined ? new PickupNumberTaken({ number }) : error)

  const ofPros = Effect.fnUntraced(function*(sql: StatementRunner, tenantId: string, pros: ReadonlyArray<string>, limit: number) {
    const found = (yield* sql.rows(statements.pickupRow, statements.pickupsOfPros(schema, tenantId, pros, limit))).map(pickupOf)
    if (found.length === 0) return []
    const entries = yield* sql.rows(statements.historyRow, statements.historiesOf(schema, tenantId, found.map(({ pickupId }) => pickupId), maxHistoryBytes))
    const histories = new Map(found.map(({ pickupId }) => [pickupId, [] as Array<PickupHistoryEntry>]))
    for (const entry of entries) histories.get(entry.pickupId)!.push(entry)
    return found.map((pickup) => ({ pickup, history: histories.get(pickup.pickupId)! }))
  })

  const changes = Effect.fnUntraced(function*(tenantId: string, range: PickupChangeRange) {
    const rows = yield* sql.rows(statements.changeRow, statements.changes(schema, tenantId, range))
    const entries = rows.flatMap(({ body, changeNo }) => body === undefined || changeNo === null ? [] : [{ changeNo, body }])
    const { scanned, through } = rows[0]!
    return { entries, through, more: entries.length === 0 && scanned === changesPerRead }
  })

  return {
    answered,
    remember: (tenantId, client, key, answer) => sql.run(statements.insertAnswer(schema, tenantId, client, key, answer)),
    nextNumber: (tenantId, isTest) => sql.one(int8, statements.nextNumber(schema, tenantId, isTest)),
    insert: (tenantId, pickup, history, change) => put(statements.insertPickup(schema, tenantId, pickup, history, change), pickup),
    update: (tenantId, pickup, history, change) => put(statements.updatePickup(schema, tenantId, pickup, history, change), pickup),
    changes,
    find: (tenantId, viewer, number, forUpdate = false) => findFirst(statements.pickupOfNumber(schema, tenantId, viewer, number, forUpdate), forUpdate),
    findByPro: (tenantId, viewer, pro) => findFirst(statements.pickupOfPro(schema, tenantId, viewer, pro)),
    findById: (tenantId, viewer, pickupId, forUpdate = false) =>
      !isUuid(pickupId) ? Effect.succeedNone : findFirst(statements.pickupOfId(schema, tenantId, viewer, pickupId, forUpdate), forUpdate),
    ofPros: (tenantId, pros, limit) => lookup((sql) => ofPros(sql, tenantId, pros, limit)),
    list: (tenantId, range) => Effect.map(lookup((sql) => sql.rows(statements.pickupRow, statements.listedPickups(schema, tenantId, range))), (rows) => rows.map(pickupOf)),
    history: (tenantId, pickupId) => !isUuid(pickupId) ? Effect.succeed([]) : lookup((sql) => sql.rows(statements.historyRow, statements.historiesOf(schema, tenantId, [pickupId], maxHistoryBytes))),
    storedBytes: (tenantId, client) => sql.one(int8, statements.storedBytes(schema, tenantId, client)),
    prune: (tenantId, before) => sql.one(int8, statements.prunePickups(schema, tenantId, before))
  }
})

/** A carrier's number, in the column of the accounts. */
const isCarrierNumber = (account: string): boolean => account.startsWith(" ")

const pickupOf = ({ accounts, ...pickup }: Decoded<typeof statements.pickupRow>): PickupRow => ({
  ...pickup,
  accounts: accounts.filter((account) => !isCarrierNumber(account)),
  carrier: accounts.some(isCarrierNumber) ? accounts.filter(isCarrierNumber) : undefined
})
