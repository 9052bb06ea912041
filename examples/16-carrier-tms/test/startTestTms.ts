/** The TMS in a test: its tables in a real Postgres, Waybill in memory with a virtual clock, and no port. */
import { startTestWaybill, type StartedTestWaybill, testClient } from "@waybill/testkit"
import { Browser } from "../demo/Browser.ts"
import { putDemoData } from "../demo/demoData.ts"
import { startDatabase } from "../demo/startDatabase.ts"
import { connect, type Database } from "../src/database/connect.ts"
import { migrateTms } from "../src/database/migrations.ts"
import { carrier } from "../src/freight/principals.ts"
import type { Transact } from "../src/freight/transact.ts"
import { authenticate } from "../src/freight/waybill.ts"
import { pickupDesk } from "../src/shipments/pickupOrders.ts"
import { buildApp } from "../src/web/app.ts"

/** Where the TMS would be. */
export const address = "https://tms.example"

export interface TestTms {
  readonly waybill: StartedTestWaybill
  readonly database: Database
  readonly browser: () => Browser
  /** For programs that call the interfaces at `address`. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  /** The next transaction fails at its end. */
  readonly failNextCommit: () => void
  readonly stop: () => Promise<void>
}

export const startTestTms = async (): Promise<TestTms> => {
  const postgres = await startDatabase()
  const { database, pool } = connect(postgres.url)
  await migrateTms(pool)
  await putDemoData(database)
  const waybill = await startTestWaybill({
    tenantId: carrier.tenantId,
    authenticate,
    apiKeys: true,
    // its answer and the TMS's order are one transaction in production only
    pickupDesk: pickupDesk(() => database)
  })
  let fails = false

  /** In production both are one transaction; here Waybill's ends like that of the TMS. */
  const transact: Transact = async (work) => {
    const client = testClient()
    await client.query("BEGIN")
    try {
      const result = await database.transaction(async (tx) => {
        const result = await work(tx, waybill.within(client))
        if (fails) throw new Error("The commit failed.")
        return result
      })
      // resolves after the deliveries
      await client.query("COMMIT")
      return result
    } catch (error) {
      await client.query("ROLLBACK")
      throw error
    } finally {
      fails = false
    }
  }

  const app = await buildApp({ database, waybill, transact, secureCookies: true, log: false, isStopping: () => false })
  const send = async (path: string, { body, headers, method }: RequestInit): Promise<Response> => {
    const answer = await app.inject({ url: path, method: (method ?? "GET") as "GET", headers: Object.fromEntries(new Headers(headers)), ...(body == null ? {} : { payload: String(body) }) })
    const sent = Object.entries(answer.headers).flatMap(([name, value]): Array<[string, string]> => value === undefined ? [] : [[name, String(value)]])
    return new Response(answer.body, { status: answer.statusCode, headers: sent })
  }
  return {
    waybill,
    database,
    browser: () => new Browser(send),
    fetch: (url, init) => send(url.slice(address.length), init),
    failNextCommit: () => void (fails = true),
    stop: async () => {
      await app.close()
      await waybill.stop()
      await pool.end()
      await postgres.stop()
    }
  }
}
