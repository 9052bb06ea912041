/** Upgrades of a host that embeds Waybill: missing migrations, two versions on one database, and the way back. */
import { createWaybill } from "@waybill/http"
import { Effect, Redacted } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import pg from "pg"
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest"
import { checkMigrations, migrate, type Migration, migrations, PgClient, postgresStorage, printMigrations } from "../../src/index.ts"
import { freshSchema } from "../TestStorage.ts"
import { carrier, customer, event, rejected, tenantId } from "./Service.ts"

const last = migrations.at(-1)!

/** Migrations of a later version. */
const adding: Migration = {
  id: last.id + 1,
  name: "adds",
  breaking: false,
  up: (schema) => `
ALTER TABLE ${schema}.deliveries ADD COLUMN carrier_note text;
ALTER TABLE ${schema}.transit_events ADD COLUMN origin_zone text;
CREATE TABLE ${schema}.carrier_notes (tenant_id text COLLATE "C" NOT NULL, note_id uuid NOT NULL, PRIMARY KEY (tenant_id, note_id));`
}
const breaking: Migration = { id: adding.id + 1, name: "renames", breaking: true, up: (schema) => `ALTER TABLE ${schema}.carrier_notes RENAME COLUMN note_id TO id` }

describe("an upgrade of a host", () => {
  const url = inject("pgUrl")
  let schema: string
  let pool: pg.Pool
  const closing: Array<() => Promise<unknown>> = []

  beforeEach(() => {
    schema = freshSchema()
    pool = new pg.Pool({ connectionString: url, max: 4 })
  })
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close()
    await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
    await pool.end()
  })

  const migratedBy = (version: ReadonlyArray<Migration>) =>
    Effect.runPromise(Effect.provide(migrate({ schema, migrations: version }), PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })))

  const start = (migrates: boolean) => {
    const waybill = createWaybill({
      storage: postgresStorage({ pool, schema, migrate: migrates }),
      sealingKeys: [new Uint8Array(32).fill(7)],
      egressAllow: ["127.0.0.1"],
      log: () => {}
    })
    closing.push(() => waybill.stop())
    return waybill
  }

  /** Every message of an error and its causes. */
  const messages = (error: unknown): string => error instanceof Error ? `${error.message}\n${messages(error.cause)}` : ""

  it("that may not migrate opens as soon as its own tool has applied the printed migrations, and before names those that are missing", async () => {
    await migratedBy(migrations.slice(0, -1))
    const waybill = start(false)
    expect(messages(await rejected(waybill.tenants.list()))).toContain(`Schema ${schema} lacks the migrations ${last.name}. Apply them with applyMigrations or waybill migrate, or open the storage without migrate: false.`)
    expect((await waybill.handler(new Request("http://x/readyz"))).status).toBe(503)
    expect(await checkMigrations({ pool, schema })).toEqual([last.name])
    const tool = await pool.connect()
    await tool.query("BEGIN")
    await tool.query(printMigrations(schema, { after: last.id - 1 }))
    await tool.query("COMMIT")
    tool.release()
    expect(await checkMigrations({ pool, schema })).toEqual([])
    expect(await waybill.tenants.list()).toMatchObject({ data: [] })
    expect((await waybill.handler(new Request("http://x/readyz"))).status).toBe(200)
  })

  it("leaves older processes at work while and after it adds to the tables, and lets them start again", async () => {
    const older = start(true)
    await older.tenants.put(tenantId, { name: "Acme" })
    await older.secrets.put(tenantId, "main", { anyClient: true })
    const arrived: Array<number> = []
    let onArrival = () => {}
    const hook = createServer((request, response) => {
      let body = ""
      request.setEncoding("utf8").on("data", (chunk: string) => void (body += chunk)).on("end", () => {
        arrived.push(...JSON.parse(body).events.map(({ sequence }: { readonly sequence: number }) => sequence))
        response.end()
        onArrival()
      })
    })
    await new Promise<void>((resolve) => hook.listen(0, "127.0.0.1", resolve))
    closing.unshift(() => new Promise((resolve) => hook.close(resolve)))
    await older.subscriptions.create(customer, { endpointUrl: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`, hmacSecretId: "main", delivery: { rateLimitPerMinute: 60_000 } })
    await older.start()

    let published = 0
    const publish = async (waybill: typeof older) => {
      const client = await pool.connect()
      try {
        await client.query("BEGIN")
        await waybill.within(client).events.publish(carrier, [event("S", `e-${published}`)])
        await client.query("COMMIT")
        published += 1
      } finally {
        client.release()
      }
    }
    let isUpgrading = true
    const publishing = (async () => {
      while (isUpgrading) await publish(older)
    })()
    expect((await migratedBy([...migrations, adding])).map(({ name }) => name)).toEqual([adding.name])
    isUpgrading = false
    await publishing
    await publish(older)

    // the newer version is taken back: the older one starts on the newer tables
    const back = start(false)
    expect(await checkMigrations({ pool, schema })).toEqual([])
    await publish(back)
    await back.wake(tenantId)
    while (arrived.length < published) await new Promise<void>((resolve) => onArrival = resolve)
    expect(arrived).toEqual(Array.from({ length: published }, (_, index) => index + 1))
  })

  it("with a breaking migration lets no older process open, and a running one can see it by checkMigrations", async () => {
    const running = start(true)
    await running.tenants.put(tenantId, { name: "Acme" })
    await migratedBy([...migrations, adding, breaking])
    const sentence = `migration ${breaking.id} (renames) is not compatible with older programs. Start the newer program, or restore a backup from before that migration.`
    expect(messages(await rejected(checkMigrations({ pool, schema })))).toContain(sentence)
    for (const migrates of [true, false]) expect(messages(await rejected(start(migrates).tenants.list()))).toContain(sentence)
  })
})
