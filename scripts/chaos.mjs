// npm run chaos: runs real processes, a real Postgres and real receivers under many faults; see docs/chaos.md
import { join } from "node:path"
import { fromSources, install, root, runOnPinnedNode } from "./workspace.mjs"

await install()
runOnPinnedNode([...fromSources, join(root, "packages/server/test/chaos/main.ts"), ...process.argv.slice(2)])
