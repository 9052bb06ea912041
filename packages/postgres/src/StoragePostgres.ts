/** All storage ports on Postgres, in one schema. Building the layer applies missing migrations. */
import { layerOneEffect } from "@waybill/core"
import { Effect, Layer } from "effect"
import { postgresAreas } from "./Areas.ts"
import * as AccessStorePostgres from "./access/AccessStorePostgres.ts"
import * as AuditStorePostgres from "./audit/AuditStorePostgres.ts"
import * as PgClient from "./client/PgClient.ts"
import { raw } from "./client/SqlStatement.ts"
import * as DeliveryControlPostgres from "./delivery/operator/DeliveryControlPostgres.ts"
import * as DeliveryQueuePostgres from "./delivery/DeliveryQueuePostgres.ts"
import * as DeliveryStorePostgres from "./delivery/worker/DeliveryStorePostgres.ts"
import type { PayloadSource } from "./delivery/PayloadSource.ts"
import * as SecretStorePostgres from "./delivery/secrets/SecretStorePostgres.ts"
import * as StatisticsStorePostgres from "./delivery/statistics/StatisticsStorePostgres.ts"
import * as WakeupsPostgres from "./delivery/WakeupsPostgres.ts"
import * as MailStorePostgres from "./mail/MailStorePostgres.ts"
import { applyMissingMigrations, MigrationsMissing, missingMigrations } from "./migrations/HostMigrations.ts"
import { quoteSchema } from "./migrations/Migrations.ts"
import { resetForeignTransactionIds } from "./migrations/TransactionIds.ts"
import { noticePayloads } from "./notices/NoticeStorePostgres.ts"
import * as NoticeStorePostgres from "./notices/NoticeStorePostgres.ts"
import { WaybillSchema } from "./shared/Schema.ts"
import * as TransactionPostgres from "./shared/TransactionPostgres.ts"

export interface StoragePostgresOptions {
  /** The schema that holds every table; `waybill` by default. */
  readonly schema?: string
  /** True (the default) applies missing migrations; false fails when one is missing, for hosts that apply them with their own tool. */
  readonly migrate?: boolean
  /**
   * True installs the function `publish_transit_events`, for publishing from SQL. An installed function is upgraded also without this
   * option.
   */
  readonly sqlPublishing?: boolean
  /** Whether this process listens for wake-ups of others; only delivering processes need to. True by default. */
  readonly listen?: boolean
}

/** Tables that hold the bytes of entries. */
const payloads = [...postgresAreas.flatMap((area): ReadonlyArray<PayloadSource> => area.payloads), noticePayloads]

const [firstStores, ...moreStores]: ReadonlyArray<typeof postgresAreas[number]["stores"]> = postgresAreas.map(({ stores: own }) => own)

/**
 * Over the `PgClient` in the context: `PgClient.layer`, or `PgClient.layerFromPool` and `PgClient.layerFromSqlPg` for the program's
 * own pool.
 */
export const layer = (options: StoragePostgresOptions = {}) =>
  stores(options).pipe(
    Layer.provide(Layer.effectDiscard(upToDate(options))),
    Layer.provide(layerOneEffect("StoragePostgres.layer"))
  )

/**
 * Opens a pool of its own, and provides it as well: `SqlClient` and `PgClient`. Publications inside `withTransaction` of this client
 * commit or roll back with the transaction.
 */
export const layerUrl = (options: StoragePostgresOptions & PgClient.PgPoolConfig) =>
  Layer.provideMerge(layer(options), PgClient.layer(options))

/** Applies missing migrations, or fails if that is not allowed. */
export const upToDate = Effect.fnUntraced(function*(options: StoragePostgresOptions) {
  const schema = schemaOf(options)
  const wanted = { sqlPublishing: options.sqlPublishing === true }
  if (options.migrate === false) {
    const missing = yield* missingMigrations(schema, wanted)
    if (missing.length > 0) return yield* new MigrationsMissing({ schema, names: missing })
  } else {
    yield* applyMissingMigrations(schema, wanted)
  }
  yield* resetForeignTransactionIds(raw(quoteSchema(schema)))
})

const schemaOf = ({ schema = "waybill" }: StoragePostgresOptions): string => schema

/** The ports alone, on a database that is up to date. */
export const stores = (options: StoragePostgresOptions) => {
  const name = schemaOf(options)
  return Layer.mergeAll(
    TransactionPostgres.layer,
    AccessStorePostgres.layer,
    AuditStorePostgres.layer,
    SecretStorePostgres.layer,
    firstStores!,
    ...moreStores,
    DeliveryQueuePostgres.layer(payloads),
    DeliveryStorePostgres.layer(payloads),
    DeliveryControlPostgres.layer(payloads),
    StatisticsStorePostgres.layer,
    NoticeStorePostgres.layer,
    MailStorePostgres.layer,
    WakeupsPostgres.layer({ listen: options.listen ?? true })
  ).pipe(
    Layer.provide(Layer.succeed(WaybillSchema, { name, identifier: raw(quoteSchema(name)) }))
  )
}
