// npm run build: builds every package into its dist/, in dependency order
import { spawnSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { root } from "./workspace.mjs"

const order = ["core", "http", "postgres", "testkit", "client", "conformance", "edi", "server"]
const forgotten = readdirSync(join(root, "packages")).filter((name) => !order.includes(name))
if (forgotten.length > 0) throw new Error(`Missing in the build order of scripts/build.mjs: ${forgotten}`)

for (const name of order) {
  const started = performance.now()
  const { output, status } = spawnSync("npm", ["run", "--silent", "build"], { cwd: join(root, "packages", name), encoding: "utf8" })
  if (status !== 0) {
    console.error(output.join("\n"))
    console.error(`packages/${name}: build failed`)
    process.exit(1)
  }
  console.log(`packages/${name} built in ${((performance.now() - started) / 1000).toFixed(1)} s`)
}
