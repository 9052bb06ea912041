// npm run chaos: runs real processes, a real Postgres and real receivers under many faults; see docs/chaos.md
import { join } from "node:path"
import { install, root, runOnPinnedNode } from "./workspace.mjs"

await install()
runOnPinnedNode([
  "--conditions=@waybill/source",
  "--disable-warning=ExperimentalWarning",
  join(root, "packages/server/test/chaos/main.ts"),
  ...process.argv.slice(2)
])
