// npm test: runs every test, including the Postgres suites
import { join } from "node:path"
import { install, root, runOnPinnedNode } from "./workspace.mjs"

await install()
runOnPinnedNode([join(root, "node_modules/vitest/vitest.mjs"), "run", ...process.argv.slice(2)])
