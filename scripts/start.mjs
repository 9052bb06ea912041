// npm start: the standalone server, from source
import { join } from "node:path"
import { install, root, runOnPinnedNode } from "./workspace.mjs"

const args = process.argv.slice(2)

await install()
runOnPinnedNode([
  "--conditions=@waybill/source",
  "--disable-warning=ExperimentalWarning",
  join(root, "packages/server/src/main.ts"),
  ...(args.length === 0 || args[0].startsWith("-") ? ["serve", ...args] : args)
])
