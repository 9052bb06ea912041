// npm start: runs the standalone server from source
import { join } from "node:path"
import { fromSources, install, root, runOnPinnedNode } from "./workspace.mjs"

const args = process.argv.slice(2)
const serves = args.length === 0 || args[0].startsWith("-") || args[0] === "serve"

await install()
// the program finds it at its path in a package
if (serves) await (await import("../packages/server/dashboard/build.mjs")).buildPages()
runOnPinnedNode([
  ...fromSources,
  join(root, "packages/server/src/main.ts"),
  ...(args.length === 0 || args[0].startsWith("-") ? ["serve", ...args] : args)
])
