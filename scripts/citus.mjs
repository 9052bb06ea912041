// npm run citus: runs the storage suites and a server on the Citus cluster of WAYBILL_CITUS_URL; see docs/operating/citus.md
import { join } from "node:path"
import { install, root, runOnPinnedNode } from "./workspace.mjs"

const url = process.env.WAYBILL_CITUS_URL
if (!url) {
  console.log("Skipped: there is no Citus. Set WAYBILL_CITUS_URL to the database on its coordinator.")
} else {
  await install()
  process.env.WAYBILL_TEST_DATABASE_URL = url
  process.env.WAYBILL_TEST_CITUS = "1"
  runOnPinnedNode([join(root, "node_modules/vitest/vitest.mjs"), "run", "--project", "citus", ...process.argv.slice(2)])
}
