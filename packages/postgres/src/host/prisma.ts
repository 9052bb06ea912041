/** `waybill.within(fromPrisma(tx))`: the interactive transaction of Prisma on Postgres. */
import type { HostExecutor } from "../client/PgHost.ts"
import { executorOver } from "./Executor.ts"

export type { HostExecutor }

/** The `tx` of `prisma.$transaction(async (tx) => …)`; only `prisma` itself has a `$connect`. */
export interface PrismaTransaction {
  readonly $queryRawUnsafe: (sql: string, ...values: ReadonlyArray<never>) => PromiseLike<unknown>
  readonly $connect?: never
}

/** Makes a transaction of Prisma one that `waybill.within` joins. Throws when it is not in a transaction. */
export const fromPrisma = (tx: PrismaTransaction): HostExecutor => {
  if (typeof tx?.$queryRawUnsafe !== "function" || tx.$connect !== undefined) {
    throw new TypeError("fromPrisma(tx) takes the tx that prisma.$transaction(async (tx) => …) hands out.")
  }
  return executorOver(tx, async (sql, values) => await tx.$queryRawUnsafe(sql, ...values as unknown as ReadonlyArray<never>) as ReadonlyArray<unknown>)
}
