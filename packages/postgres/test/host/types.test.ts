/** What the compiler accepts as a transaction of the host. `npm run check` fails where it accepts more or less. */
import type { EntityManager as MikroOrmEntityManager } from "@mikro-orm/postgresql"
import { createWaybill, type HostPickupDesk, type Waybill, type WaybillOptions } from "@waybill/http"
import { memoryStorage, type StartedTestWaybill, type StartOptions, testClient } from "@waybill/testkit"
import type { NodePgDatabase } from "drizzle-orm/node-postgres"
import type { Knex } from "knex"
import type { Kysely, Transaction } from "kysely"
import type pg from "pg"
import type { Sql, TransactionSql } from "postgres"
import type { DataSource, EntityManager, QueryRunner } from "typeorm"
import { expectTypeOf, it } from "vitest"
import { fromDrizzle } from "../../src/host/drizzle.ts"
import { fromKnex } from "../../src/host/knex.ts"
import { fromKysely } from "../../src/host/kysely.ts"
import { fromMikroOrm } from "../../src/host/mikro-orm.ts"
import { fromPostgresJs } from "../../src/host/postgres-js.ts"
import { fromPrisma } from "../../src/host/prisma.ts"
import { fromTypeOrm } from "../../src/host/typeorm.ts"
import { postgresStorage, type PostgresTransaction } from "../../src/index.ts"

type Within = Parameters<ReturnType<typeof createWaybill<PostgresTransaction>>["within"]>[0]
type DrizzleTx = Parameters<Parameters<NodePgDatabase["transaction"]>[0]>[0]

it("within takes a client of pg, the result of an adapter, or an executor", () => {
  expectTypeOf<pg.Client>().toExtend<Within>()
  expectTypeOf<pg.PoolClient>().toExtend<Within>()
  for (const from of [fromDrizzle, fromKysely, fromKnex, fromPrisma, fromTypeOrm, fromMikroOrm, fromPostgresJs]) expectTypeOf(from).returns.toExtend<Within>()
  expectTypeOf<{ executeSql: (text: string, values: ReadonlyArray<unknown>) => Promise<{ rows: Array<unknown> }> }>().toExtend<Within>()
})

it("within takes neither pools nor the objects of other libraries", () => {
  expectTypeOf<pg.Pool>().not.toExtend<Within>()
  expectTypeOf<DrizzleTx>().not.toExtend<Within>()
  expectTypeOf<Transaction<unknown>>().not.toExtend<Within>()
  expectTypeOf<Knex.Transaction>().not.toExtend<Within>()
  expectTypeOf<QueryRunner>().not.toExtend<Within>()
  expectTypeOf<EntityManager>().not.toExtend<Within>()
  expectTypeOf<MikroOrmEntityManager>().not.toExtend<Within>()
  expectTypeOf<TransactionSql>().not.toExtend<Within>()
  expectTypeOf<string>().not.toExtend<Within>()
  expectTypeOf<object>().not.toExtend<Within>()
  expectTypeOf<unknown>().not.toExtend<Within>()
})

it("the adapters take the transactions of their libraries, and not what is outside of one", () => {
  expectTypeOf<DrizzleTx>().toExtend<Parameters<typeof fromDrizzle>[0]>()
  expectTypeOf<NodePgDatabase>().not.toExtend<Parameters<typeof fromDrizzle>[0]>()
  expectTypeOf<Transaction<unknown>>().toExtend<Parameters<typeof fromKysely>[0]>()
  expectTypeOf<Kysely<unknown>>().not.toExtend<Parameters<typeof fromKysely>[0]>()
  expectTypeOf<Knex.Transaction>().toExtend<Parameters<typeof fromKnex>[0]>()
  expectTypeOf<Knex>().not.toExtend<Parameters<typeof fromKnex>[0]>()
  expectTypeOf<QueryRunner>().toExtend<Parameters<typeof fromTypeOrm>[0]>()
  expectTypeOf<EntityManager>().toExtend<Parameters<typeof fromTypeOrm>[0]>()
  expectTypeOf<Pick<DataSource, "query" | "transaction" | "manager">>().not.toExtend<Parameters<typeof fromTypeOrm>[0]>()
  expectTypeOf<MikroOrmEntityManager>().toExtend<Parameters<typeof fromMikroOrm>[0]>()
  expectTypeOf<TransactionSql>().toExtend<Parameters<typeof fromPostgresJs>[0]>()
  expectTypeOf<Sql>().not.toExtend<Parameters<typeof fromPostgresJs>[0]>()
})

it("the service takes what its storage takes, and a plain Waybill can replace any of them", () => {
  expectTypeOf(postgresStorage).returns.toEqualTypeOf<WaybillOptions<PostgresTransaction>["storage"]>()
  expectTypeOf<Waybill<PostgresTransaction>>().toExtend<Waybill>()
  expectTypeOf<Waybill>().not.toExtend<Waybill<PostgresTransaction>>()
  expectTypeOf<Parameters<Waybill["within"]>[0]>().toEqualTypeOf<never>()
  expectTypeOf(memoryStorage).returns.toEqualTypeOf<WaybillOptions<object>["storage"]>()
  const options = { storage: postgresStorage({ url: "postgres://127.0.0.1/none" }), sealingKeys: [new Uint8Array(32)] } satisfies WaybillOptions<PostgresTransaction>
  expectTypeOf(createWaybill(options)).toEqualTypeOf<Waybill<PostgresTransaction>>()
})

it("the test kit can replace a service on Postgres, and a test client can replace a client of pg", () => {
  expectTypeOf<StartedTestWaybill>().toExtend<Waybill<PostgresTransaction>>()
  expectTypeOf(testClient).returns.toExtend<Within>()
  expectTypeOf(testClient<pg.PoolClient>).returns.toExtend<pg.PoolClient>()
  expectTypeOf<HostPickupDesk<PostgresTransaction>>().toExtend<NonNullable<StartOptions["pickupDesk"]>>()
})

it("the pickup desk gets the type of transaction that its storage hands out", () => {
  createWaybill({
    storage: postgresStorage({ url: "postgres://127.0.0.1/none" }),
    sealingKeys: [new Uint8Array(32)],
    pickupDesk: async (_, { transaction }) => {
      expectTypeOf(transaction).toEqualTypeOf<PostgresTransaction>()
      return { decision: "accept" }
    }
  })
})
