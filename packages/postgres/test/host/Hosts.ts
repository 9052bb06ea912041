/** Hosts with a transaction in each supported library, on the same database. */
import { type EntityManager as MikroOrmEntityManager, MikroORM } from "@mikro-orm/postgresql"
import { PrismaPg } from "@prisma/adapter-pg"
import { sql as drizzleSql } from "drizzle-orm"
import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres"
import knexOf, { type Knex } from "knex"
import { CamelCasePlugin, CompiledQuery, Kysely, PostgresDialect, type Transaction } from "kysely"
import pg from "pg"
import postgres, { type TransactionSql } from "postgres"
import { DataSource, type EntityManager, type QueryRunner } from "typeorm"
import { fromDrizzle } from "../../src/host/drizzle.ts"
import { fromKnex } from "../../src/host/knex.ts"
import { fromKysely } from "../../src/host/kysely.ts"
import { fromMikroOrm } from "../../src/host/mikro-orm.ts"
import { fromPostgresJs } from "../../src/host/postgres-js.ts"
import { fromPrisma, type PrismaTransaction } from "../../src/host/prisma.ts"
import { fromTypeOrm } from "../../src/host/typeorm.ts"
import type { PostgresTransaction } from "../../src/index.ts"

/** An open transaction of a host. */
export interface Open {
  /** The argument of `waybill.within`. */
  readonly within: PostgresTransaction
  /** A statement of the host's own. */
  readonly send: (sql: string) => Promise<unknown>
  /** A nested transaction, which is a savepoint. */
  readonly nested: <A>(use: (inner: Open) => Promise<A>) => Promise<A>
}

export interface Host {
  readonly name: string
  /** Commits what `use` did, or rolls it back when it throws. */
  readonly transaction: <A>(use: (open: Open) => Promise<A>) => Promise<A>
  /** A value outside of any transaction, passed to the adapter by mistake. */
  readonly notOpen: () => PostgresTransaction
  /** The error message for this mistake. */
  readonly sentence: RegExp
  readonly close: () => Promise<unknown>
}

export interface HostSettings {
  readonly url: string
  readonly max: number
}

const poolOf = ({ max, url }: HostSettings) => new pg.Pool({ connectionString: url, max }).on("error", () => {})

/** Commits what `use` did, or rolls it back when it throws. For libraries that leave this to the host. */
const endedByHand = async <A>(use: () => Promise<A>, { commit, rollback }: { readonly commit: () => Promise<unknown>; readonly rollback: () => Promise<unknown> }): Promise<A> => {
  try {
    const result = await use()
    await commit()
    return result
  } catch (error) {
    await rollback()
    throw error
  }
}

/** For libraries without savepoint support, by plain statements. */
const savepoints = (send: Open["send"], again: () => Open): Open["nested"] => async (use) => {
  const name = `host_${Math.random().toString(36).slice(2, 8)}`
  await send(`SAVEPOINT ${name}`)
  return endedByHand(() => use(again()), { commit: () => send(`RELEASE SAVEPOINT ${name}`), rollback: () => send(`ROLLBACK TO SAVEPOINT ${name}`) })
}

export const pgHost = (settings: HostSettings): Host => {
  const pool = poolOf(settings)
  const openOf = (client: pg.PoolClient): Open => {
    const send = (sql: string) => client.query(sql)
    return { within: client, send, nested: savepoints(send, () => openOf(client)) }
  }
  return {
    name: "pg",
    transaction: async (use) => {
      const client = await pool.connect()
      try {
        await client.query("BEGIN")
        return await endedByHand(() => use(openOf(client)), { commit: () => client.query("COMMIT"), rollback: () => client.query("ROLLBACK") })
      } finally {
        client.release()
      }
    },
    notOpen: () => pool as never,
    sentence: /^That is a pool, not a client in a transaction\. Pass the client that sent BEGIN\.$/,
    close: () => pool.end()
  }
}

export const postgresJsHost = ({ max, url }: HostSettings): Host => {
  const sql = postgres(url, { max, onnotice: () => {} })
  const openOf = (tx: TransactionSql): Open => ({
    within: fromPostgresJs(tx),
    send: (text) => tx.unsafe(text),
    nested: (use) => tx.savepoint((inner) => use(openOf(inner))) as never
  })
  return {
    name: "postgres.js",
    transaction: (use) => sql.begin((tx) => use(openOf(tx))) as never,
    notOpen: () => fromPostgresJs(sql as never),
    sentence: /^fromPostgresJs\(tx\) takes the tx that sql\.begin\(async \(tx\) => …\) hands out\.$/,
    close: () => sql.end()
  }
}

export const drizzleHost = (settings: HostSettings): Host => {
  const pool = poolOf(settings)
  const db = drizzle(pool)
  type Tx = Parameters<Parameters<NodePgDatabase["transaction"]>[0]>[0]
  const openOf = (tx: Tx): Open => ({
    within: fromDrizzle(tx),
    send: async (sql) => tx.execute(drizzleSql.raw(sql)),
    nested: (use) => tx.transaction((inner) => use(openOf(inner)))
  })
  return {
    name: "Drizzle",
    transaction: (use) => db.transaction((tx) => use(openOf(tx))),
    notOpen: () => fromDrizzle(db as never),
    sentence: /^fromDrizzle\(tx\) takes the tx that db\.transaction\(async \(tx\) => …\) hands out\.$/,
    close: () => pool.end()
  }
}

/** With a plugin that renames columns, as in many Kysely hosts. */
export const kyselyHost = (settings: HostSettings): Host => {
  const db = new Kysely<Record<string, Record<string, unknown>>>({
    dialect: new PostgresDialect({ pool: poolOf(settings) }),
    plugins: [new CamelCasePlugin()]
  })
  const openOf = (trx: Transaction<any>): Open => {
    const send = (sql: string) => trx.executeQuery(CompiledQuery.raw(sql))
    return { within: fromKysely(trx), send, nested: savepoints(send, () => openOf(trx)) }
  }
  return {
    name: "Kysely",
    transaction: (use) => db.transaction().execute((trx) => use(openOf(trx))),
    notOpen: () => fromKysely(db as never),
    sentence: /^fromKysely\(trx\) takes the trx that db\.transaction\(\)\.execute\(async \(trx\) => …\) hands out\.$/,
    close: () => db.destroy()
  }
}

/** Kysely's controlled transaction, which the host ends itself, with named savepoints. */
export const kyselyControlledHost = (settings: HostSettings): Host => {
  const db = new Kysely<any>({ dialect: new PostgresDialect({ pool: poolOf(settings) }) })
  type Controlled = Awaited<ReturnType<ReturnType<typeof db.startTransaction>["execute"]>>
  const openOf = (trx: Controlled): Open => ({
    within: fromKysely(trx),
    send: (sql) => trx.executeQuery(CompiledQuery.raw(sql)),
    nested: async (use) => {
      const inner = await trx.savepoint("inside").execute()
      return endedByHand(() => use(openOf(inner)), {
        commit: () => inner.releaseSavepoint("inside").execute(),
        rollback: () => inner.rollbackToSavepoint("inside").execute()
      })
    }
  })
  return {
    name: "Kysely, ended by hand",
    transaction: async (use) => {
      const trx = await db.startTransaction().execute()
      return endedByHand(() => use(openOf(trx)), { commit: () => trx.commit().execute(), rollback: () => trx.rollback().execute() })
    },
    notOpen: () => fromKysely(db as never),
    sentence: /^fromKysely\(trx\) takes the trx /,
    close: () => db.destroy()
  }
}

/** With a hook that changes result rows, like an object mapper. */
export const knexHost = ({ max, url }: HostSettings): Host => {
  const knex = knexOf({
    client: "pg",
    connection: url,
    pool: { min: 0, max },
    postProcessResponse: (result) => Array.isArray(result) ? result.map((row) => ({ ...row, seen: true })) : result
  })
  const openOf = (trx: Knex.Transaction): Open => ({
    within: fromKnex(trx),
    send: async (sql) => trx.raw(sql),
    nested: (use) => trx.transaction((inner) => use(openOf(inner)))
  })
  return {
    name: "Knex",
    transaction: (use) => knex.transaction((trx) => use(openOf(trx))),
    notOpen: () => fromKnex(knex as never),
    sentence: /^fromKnex\(trx\) takes the trx that knex\.transaction\(async \(trx\) => …\) hands out\.$/,
    close: () => knex.destroy()
  }
}

interface PrismaOpen extends PrismaTransaction {
  readonly $executeRawUnsafe: (sql: string) => PromiseLike<number>
}

/** Generated before the tests, see prisma/generateClient.ts; what they use of it is typed here, because types are checked without it too. */
const generated = new URL("../../.prisma/client.ts", import.meta.url).pathname
const { PrismaClient } = await import(/* @vite-ignore */ generated) as {
  readonly PrismaClient: new(options: { readonly adapter: PrismaPg }) => {
    readonly $transaction: <A>(use: (tx: PrismaOpen) => Promise<A>, options: { readonly maxWait: number; readonly timeout: number }) => Promise<A>
    readonly $disconnect: () => Promise<void>
  }
}

export const prismaHost = ({ max, url }: HostSettings): Host => {
  const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url, max }) })
  const openOf = (tx: PrismaOpen): Open => {
    const send = async (sql: string) => tx.$executeRawUnsafe(sql)
    return { within: fromPrisma(tx), send, nested: savepoints(send, () => openOf(tx)) }
  }
  return {
    name: "Prisma",
    // its own default is five seconds, for transactions and for waiting until one may begin
    transaction: (use) => prisma.$transaction((tx) => use(openOf(tx)), { maxWait: 60_000, timeout: 60_000 }),
    notOpen: () => fromPrisma(prisma as never),
    sentence: /^fromPrisma\(tx\) takes the tx that prisma\.\$transaction\(async \(tx\) => …\) hands out\.$/,
    close: () => prisma.$disconnect()
  }
}

/** Connects at its first transaction, because hosts are made before the tests of a file run. */
const dataSourceOf = ({ max, url }: HostSettings) => {
  const dataSource = new DataSource({ type: "postgres", url, poolSize: max })
  let initialized: Promise<DataSource> | undefined
  return {
    dataSource,
    connected: () => initialized ??= dataSource.initialize(),
    close: async () => initialized !== undefined && (await initialized).destroy()
  }
}

export const typeOrmHost = (settings: HostSettings): Host => {
  const { close, connected, dataSource } = dataSourceOf(settings)
  const openOf = (manager: EntityManager): Open => ({
    within: fromTypeOrm(manager),
    send: (sql) => manager.query(sql),
    nested: (use) => manager.transaction((inner) => use(openOf(inner)))
  })
  return {
    name: "TypeORM",
    transaction: async (use) => (await connected()).transaction((manager) => use(openOf(manager))),
    notOpen: () => fromTypeOrm(dataSource.manager),
    sentence: /^fromTypeOrm\(manager\) takes the manager that dataSource\.transaction\(async \(manager\) => …\) hands out, or /,
    close
  }
}

/** TypeORM's query runner, whose transaction the host begins and ends itself. */
export const typeOrmRunnerHost = (settings: HostSettings): Host => {
  const { close, connected, dataSource } = dataSourceOf(settings)
  const begin = async <A>(runner: QueryRunner, use: (open: Open) => Promise<A>) => {
    await runner.startTransaction()
    return endedByHand(() => use(openOf(runner)), { commit: () => runner.commitTransaction(), rollback: () => runner.rollbackTransaction() })
  }
  const openOf = (runner: QueryRunner): Open => ({
    within: fromTypeOrm(runner),
    send: (sql) => runner.query(sql),
    nested: (use) => begin(runner, use)
  })
  return {
    name: "TypeORM, ended by hand",
    transaction: async (use) => {
      const runner = (await connected()).createQueryRunner()
      try {
        return await begin(runner, use)
      } finally {
        await runner.release()
      }
    },
    notOpen: () => fromTypeOrm(dataSource.createQueryRunner()),
    sentence: /^fromTypeOrm\(manager\) takes the manager /,
    close
  }
}

export const mikroOrmHost = ({ max, url }: HostSettings): Host => {
  const orm = new MikroORM({ clientUrl: url, pool: { max }, entities: [], discovery: { warnWhenNoEntities: false } })
  const openOf = (em: MikroOrmEntityManager): Open => ({
    within: fromMikroOrm(em),
    send: (sql) => em.execute(sql),
    nested: (use) => em.transactional((inner) => use(openOf(inner)))
  })
  return {
    name: "MikroORM",
    transaction: (use) => orm.em.fork().transactional((em) => use(openOf(em))),
    notOpen: () => fromMikroOrm(orm.em.fork()),
    sentence: /^fromMikroOrm\(em\) takes the em that em\.transactional\(async \(em\) => …\) hands out, or /,
    close: () => orm.close()
  }
}

export const hosts = [pgHost, postgresJsHost, drizzleHost, kyselyHost, kyselyControlledHost, knexHost, prismaHost, typeOrmHost, typeOrmRunnerHost, mikroOrmHost]
