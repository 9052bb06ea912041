/** Waybill inside the TMS: its tables in the TMS's database, its callers from the TMS's login. */
import { createWaybill, type HostPrincipal, type Waybill } from "@waybill/http"
import { postgresStorage, type PostgresTransaction } from "@waybill/postgres"
import type { FastifyRequest } from "fastify"
import type pg from "pg"
import { waybillSchema } from "../database/migrations.ts"
import { drizzleOver, pickupDesk } from "../shipments/pickupOrders.ts"
import type { Settings } from "../settings.ts"
import { principalOf } from "./principals.ts"

/** Callers of Waybill's HTTP interfaces are users of the TMS: the session cookie that the TMS has read. */
export const authenticate = async (_request: Request, request: FastifyRequest): Promise<HostPrincipal | undefined> =>
  request.currentUser === undefined ? undefined : principalOf(request.currentUser)

export const openWaybill = (pool: pg.Pool, settings: Pick<Settings, "sealingKey" | "egressAllow" | "delivers">): Waybill<PostgresTransaction> =>
  createWaybill({
    // `npm run migrate` creates the tables; a process that delivers nothing needs no connection that listens
    storage: postgresStorage({ pool, schema: waybillSchema, migrate: false, listen: settings.delivers }),
    sealingKeys: [settings.sealingKey],
    authenticate,
    // beside the login: keys for the programs of customers
    apiKeys: true,
    securitySchemes: { Session: { type: "apiKey", in: "cookie", name: "session" } },
    egressAllow: settings.egressAllow,
    pickupDesk: pickupDesk(drizzleOver)
  })
