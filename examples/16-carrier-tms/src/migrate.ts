/** A step of each deploy, before the new processes start: the tables of both, and the tenant of the carrier. */
import { connect } from "./database/connect.ts"
import { migrateBoth } from "./database/migrations.ts"
import { carrier } from "./freight/principals.ts"
import { openWaybill } from "./freight/waybill.ts"
import { readSettings } from "./settings.ts"

const settings = readSettings(process.env)
const { pool } = connect(settings.databaseUrl)
await migrateBoth(pool)
const waybill = openWaybill(pool, { ...settings, delivers: false })
await waybill.tenants.put(carrier.tenantId, { name: carrier.name })
await waybill.stop()
await pool.end()
