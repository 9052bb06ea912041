/** Waybill inside the TMS: its tables in the TMS's database, its callers from the TMS's login, its writes in the TMS's transactions. */
import { createWaybill, type HostPrincipal, type Waybill, type WaybillWithin } from "@waybill/http"
import { postgresStorage, type PostgresTransaction } from "@waybill/postgres"
import { fromDrizzle } from "@waybill/postgres/drizzle"
import type { FastifyRequest } from "fastify"
import type pg from "pg"
import type { User } from "../accounts/sessions.ts"
import type { Database, Transaction } from "../database/connect.ts"
import { waybillSchema } from "../database/migrations.ts"
import type { Settings } from "../settings.ts"

/** The TMS serves one carrier. */
export const carrier = { tenantId: "prairie", name: "Prairie Freight Lines", scac: "PRFL" }

/** Who publishes: the TMS itself, whichever dispatcher acts. */
export const tmsPrincipal: HostPrincipal = { tenantId: carrier.tenantId, client: "tms", roles: ["carrier"] }

/** All users of a customer act as one client of Waybill, so subscriptions stay when a person leaves. */
export const clientOf = (customerId: string): string => `customer-${customerId}`

export const principalOf = (user: User): HostPrincipal =>
  user.customer === undefined
    ? tmsPrincipal
    : { tenantId: carrier.tenantId, client: clientOf(user.customer.id), roles: ["customer"], accounts: user.customer.accounts }

/** Callers of Waybill's HTTP interfaces are users of the TMS: the session cookie that the TMS has read. */
export const authenticate = async (_request: Request, request: FastifyRequest): Promise<HostPrincipal | undefined> =>
  request.currentUser === undefined ? undefined : principalOf(request.currentUser)

export const openWaybill = (pool: pg.Pool, settings: Pick<Settings, "sealingKey" | "egressAllow" | "delivers">): Waybill<PostgresTransaction> =>
  createWaybill({
    // `npm run migrate` creates the tables; a process that delivers nothing needs no connection that listens
    storage: postgresStorage({ pool, schema: waybillSchema, migrate: false, listen: settings.delivers }),
    sealingKeys: [settings.sealingKey],
    authenticate,
    securitySchemes: { Session: { type: "apiKey", in: "cookie", name: "session" } },
    egressAllow: settings.egressAllow
  })

/** One transaction for the TMS's tables and for Waybill. If `work` rejects, nothing of both is stored, and nothing is sent. */
export type Transact = <A>(work: (tx: Transaction, freight: WaybillWithin) => Promise<A>) => Promise<A>

export const transactOver = (database: Database, waybill: Waybill<PostgresTransaction>): Transact => async (work) => {
  const result = await database.transaction((tx) => work(tx, waybill.within(fromDrizzle(tx))))
  // deliver now; if this fails, the workers find it within a second, and the commit stands
  await waybill.wake(carrier.tenantId).catch(() => {})
  return result
}
