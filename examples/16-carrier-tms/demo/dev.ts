/** The TMS with a temporary database and demo data, for a browser on this machine. Ctrl-C ends it. */
import { dispatcher, harborUser, summitUser } from "./demoData.ts"
import { prepare } from "./prepare.ts"
import { Program } from "./Program.ts"
import { demoSettings } from "./settings.ts"
import { startDatabase } from "./startDatabase.ts"

const postgres = await startDatabase()
const env = { ...demoSettings(postgres.url), PORT: process.env["PORT"] ?? "3000" }
await prepare(env)
const tms = await Program.start("server", env)

console.log(`${tms.address}
  dispatcher: ${dispatcher.email}, ${dispatcher.password}
  customers: ${harborUser.email} and ${summitUser.email}, same password`)

const stop = async () => {
  await tms.stop()
  await postgres.stop()
}
process.once("SIGINT", stop)
process.once("SIGTERM", stop)
