/** What a host's role needs when another role applies the migrations: the statements of docs/upgrades.md, and nothing else. */
import { createWaybill, type Waybill } from "@waybill/http"
import { readFileSync } from "node:fs"
import pg from "pg"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { applyMigrations, postgresStorage, type PostgresTransaction } from "../../src/index.ts"
import { freshSchema } from "../TestStorage.ts"
import { everyCall } from "./EveryCall.ts"
import { startReceiver } from "./Receiver.ts"
import { carrier, event, rejected, subscribeToAll, tenantId } from "./Service.ts"

const schema = freshSchema()
const role = `tms_${schema}`
const page = readFileSync(new URL("../../../../docs/upgrades.md", import.meta.url), "utf8")
const grants = /^GRANT USAGE[^`]+/m.exec(page)![0].replaceAll(/\bwaybill\b/g, schema).replaceAll(/\btms\b/g, role)

const { close, hook } = await startReceiver()

describe("a role with the rights that docs/upgrades.md grants", () => {
  const owner = new pg.Pool({ connectionString: inject("pgUrl"), max: 2 })
  let pool: pg.Pool
  let waybill: Waybill<PostgresTransaction>

  beforeAll(async () => {
    await owner.query(`CREATE SCHEMA "${schema}"; CREATE ROLE ${role} LOGIN PASSWORD 'x'; ${grants}`)
    await applyMigrations({ pool: owner, schema })
    const url = Object.assign(new URL(inject("pgUrl")), { username: role, password: "x" })
    pool = new pg.Pool({ connectionString: url.href, max: 3 })
    waybill = createWaybill({
      storage: postgresStorage({ pool, schema, migrate: false }),
      sealingKeys: [new Uint8Array(32).fill(7)],
      egressAllow: ["127.0.0.1"],
      log: () => {}
    })
    await waybill.tenants.put(tenantId, { name: "Acme" })
    await waybill.secrets.put(tenantId, "main", { anyClient: true })
    await subscribeToAll({ hook, waybill })
  })
  afterAll(async () => {
    await waybill.stop()
    await pool.end()
    await owner.query(`DROP SCHEMA "${schema}" CASCADE; DROP OWNED BY ${role}; DROP ROLE ${role}`)
    await owner.end()
    await close()
  })

  it("may create nothing in the schema", async () => {
    expect((await rejected(pool.query(`CREATE TABLE "${schema}".mine (id text)`))).message).toContain("permission denied")
  })

  let count = 0
  it.each(everyCall)("%s", async (_, prepare) => {
    const call = await prepare({ waybill, hook }, `r${++count}`)
    await call(waybill)
  })

  it("is asked for by within(tx) when the transaction has another role", async () => {
    const client = await owner.connect()
    await client.query(`BEGIN; CREATE ROLE other_${schema}; SET LOCAL ROLE other_${schema}`)
    const refused = await rejected(waybill.within(client).events.publish(carrier, [event("s", "s")]))
    await client.query("ROLLBACK")
    client.release()
    expect([refused.status, refused.message]).toEqual([
      500,
      `The role of the transaction given to within(tx) lacks rights on Waybill's tables: permission denied for schema ${schema}. Grant them, or call within(tx) before SET ROLE or after RESET ROLE.`
    ])
  })
})
