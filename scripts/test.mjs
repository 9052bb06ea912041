// npm test: every test, Postgres suites included
import { join } from "node:path"
import { install, root, runOnPinnedNode } from "./workspace.mjs"

await install()
runOnPinnedNode([join(root, "node_modules/vitest/vitest.mjs"), "run", ...process.argv.slice(2)])
