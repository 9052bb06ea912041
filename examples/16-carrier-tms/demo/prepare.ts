/** What a deploy does before the first start, and the data of the demo. */
import { carrier } from "../src/freight/principals.ts"
import { openWaybill } from "../src/freight/waybill.ts"
import { connect } from "../src/database/connect.ts"
import { migrateBoth } from "../src/database/migrations.ts"
import { readSettings } from "../src/settings.ts"
import { putDemoData } from "./demoData.ts"

export const prepare = async (env: Readonly<Record<string, string>>): Promise<void> => {
  const settings = readSettings(env)
  const { database, pool } = connect(settings.databaseUrl)
  await migrateBoth(pool)
  const waybill = openWaybill(pool, { ...settings, delivers: false })
  await waybill.tenants.put(carrier.tenantId, { name: carrier.name })
  await waybill.stop()
  await putDemoData(database)
  await pool.end()
}
