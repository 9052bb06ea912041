/** Installing, upgrading and granting the SQL function. */
import { createWaybill } from "@waybill/http"
import { reportedEvent } from "@waybill/testkit"
import { createHash, randomBytes } from "node:crypto"
import pg from "pg"
import { describe, expect, it } from "vitest"
import { checkMigrations, migrations, postgresStorage, printMigrations } from "../../src/index.ts"
import { sqlPublishing, sqlPublishingVersion } from "../../src/sql-publishing/SqlPublishing.ts"
import { carrier, rejected, runningService, tenantId } from "../host/Service.ts"

const service = await runningService()

const query = (text: string) => service.pool.query(text.replaceAll("@", `"${service.schema}".`)).then(({ rows }) => rows)

const functions = () =>
  query(`SELECT pg_get_functiondef(p.oid) AS text, p.proacl::text AS granted, obj_description(p.oid, 'pg_proc') AS comment
         FROM pg_proc AS p WHERE p.pronamespace = to_regnamespace('"${service.schema}"') ORDER BY 1`)

/** Opens another service on the schema. */
const opened = async (options: { readonly sqlPublishing?: boolean; readonly migrate?: boolean }, pool = service.pool) => {
  const { schema } = service
  const waybill = createWaybill({ storage: postgresStorage({ pool, schema, listen: false, ...options }), sealingKeys: [new Uint8Array(32)], log: () => {} })
  try {
    await waybill.tenants.list()
  } finally {
    await waybill.stop()
  }
}

const missing = (wanted: boolean) => checkMigrations({ pool: service.pool, schema: service.schema, sqlPublishing: wanted })

const printed = () => printMigrations(service.schema, { after: migrations.at(-1)!.id, include: ["sql-publishing"], transaction: true })

const drop = async () => {
  for (const { signature } of await query(`SELECT p.oid::regprocedure AS signature FROM pg_proc AS p WHERE p.pronamespace = to_regnamespace('"${service.schema}"')`)) {
    await query(`DROP FUNCTION ${signature}`)
  }
}

describe("the function for publishing from SQL", () => {
  it("is installed on request only, and is the same from a process and from printed SQL", async () => {
    expect(await functions()).toEqual([])
    expect(await missing(false)).toEqual([])
    expect(await missing(true)).toEqual(["sql-publishing"])
    expect(await rejected(opened({ sqlPublishing: true, migrate: false }))).toMatchObject({ code: "unavailable", cause: { message: expect.stringContaining("lacks the migrations sql-publishing") } })
    expect(await functions()).toEqual([])

    await opened({ sqlPublishing: true })
    const installed = await functions()
    expect(installed.length).toBeGreaterThan(10)
    expect(await missing(true)).toEqual([])

    await drop()
    await query(printed())
    expect(await functions()).toEqual(installed)
    await query(printed())
    expect(await functions()).toEqual(installed)
    await opened({ sqlPublishing: true, migrate: false })
    expect(() => printMigrations("waybill", { include: ["nothing" as never] })).toThrow("There is no optional part nothing.")
  })

  it("is the same when it is installed by sessions in which backslashes escape", async () => {
    await opened({ sqlPublishing: true })
    const installed = await functions()
    const pool = new pg.Pool({ connectionString: service.url, max: 2, options: "-c standard_conforming_strings=off" })
    try {
      await drop()
      await opened({ sqlPublishing: true }, pool)
      expect(await functions()).toEqual(installed)
    } finally {
      await pool.end()
    }
  })

  it("is upgraded by every process that opens the storage, and a newer version stays", async () => {
    await opened({ sqlPublishing: true })
    const installed = await functions()
    const signature = "@publish_transit_events(text, jsonb)"
    await query(`CREATE OR REPLACE FUNCTION @json_text(value jsonb) RETURNS text LANGUAGE sql AS 'SELECT ''old''::text'; COMMENT ON FUNCTION ${signature} IS 'version 0'`)
    expect(await missing(false)).toEqual(["sql-publishing"])
    expect(await rejected(opened({ migrate: false }))).toMatchObject({ cause: { _tag: "MigrationsMissing", names: ["sql-publishing"] } })
    await Promise.all([opened({}), opened({}), opened({})])
    expect(await functions()).toEqual(installed)

    await query(`COMMENT ON FUNCTION ${signature} IS 'version ${sqlPublishingVersion + 1}'`)
    const newer = await functions()
    await opened({ sqlPublishing: true })
    expect(await functions()).toEqual(newer)
    expect(await missing(true)).toEqual([])
    await query(`COMMENT ON FUNCTION ${signature} IS 'version ${sqlPublishingVersion}'`)
  })

  it("may be called by granted roles only, which need no right to a table", async () => {
    await opened({ sqlPublishing: true })
    const role = `r_${randomBytes(6).toString("hex")}`
    const { schema, url } = service
    await query(`CREATE ROLE ${role} LOGIN PASSWORD 'pw'; GRANT USAGE ON SCHEMA "${schema}" TO ${role}`)
    const address = new URL(url)
    Object.assign(address, { username: role, password: "pw" })
    const client = new pg.Client(address.href)
    await client.connect()
    try {
      const publish = (shipmentId: string) => client.query(`SELECT * FROM "${schema}".publish_transit_events($1, $2)`, [tenantId, JSON.stringify(reportedEvent(shipmentId))])
      expect(await rejected(publish("S"))).toMatchObject({ code: "42501" })
      await query(`GRANT EXECUTE ON FUNCTION @publish_transit_events(text, jsonb) TO ${role}`)
      // names in the caller's own schemas must not replace those of the function
      await client.query("CREATE TEMP TABLE tenants (tenant_id text, state text); SET search_path = pg_temp, public; SET extra_float_digits = -15; SET standard_conforming_strings = off")
      expect((await publish("S")).rows).toMatchObject([{ sequence: "1", outcome: "accepted" }])
      for (const table of ["transit_events", "tenants", "secrets"]) {
        expect(await rejected(client.query(`SELECT FROM "${schema}".${table}`)), table).toMatchObject({ code: "42501" })
      }
      for (const inner of [`append_transit_events('${tenantId}', '{}', '{}', '{}', '{}', '{}', '{}', NULL)`, `lock_shipments('${tenantId}', '{}', '{}', '{}', '{}', '{}', '{}', NULL)`]) {
        expect(await rejected(client.query(`SELECT "${schema}".${inner}`)), inner).toMatchObject({ code: "42501" })
      }
      await query("COMMENT ON FUNCTION @publish_transit_events(text, jsonb) IS 'version 0'")
      await opened({})
      expect((await publish("S")).rows, "grants outlive an upgrade").toMatchObject([{ sequence: "2" }])
      const { data: [entry] } = await service.waybill.audit.list({ tenant: tenantId })
      expect(entry!.actor).toEqual({ kind: "client", name: `sql:${role}` })
      expect((await service.waybill.events.list(carrier, { shipmentId: "S" })).data).toHaveLength(2)
    } finally {
      await client.end()
      await query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
    }
  })

  it("has no question mark, which some database tools read as a placeholder", () => expect(sqlPublishing("waybill")).not.toContain("?"))

  it("has a new version when its text changes", () => {
    // Another text: raise sqlPublishingVersion, so that installed functions are upgraded, and write both here.
    const text = createHash("sha256").update(sqlPublishing("waybill")).digest("hex").slice(0, 16)
    expect({ version: sqlPublishingVersion, text }).toEqual({ version: 9, text: "4bec062af80609e1" })
  })
})
