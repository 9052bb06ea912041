// npm run proof: the long forms of simulation, fuzzing and chaos. Test runs have their short forms.
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { install, root } from "./workspace.mjs"

await install()

const steps = [
  ["simulation", ["scripts/test.mjs", "--project", "testkit", "simulation"]],
  ["fuzzing", ["scripts/test.mjs", "--project", "http", "fuzz"]],
  ["chaos", ["scripts/chaos.mjs"]]
]

const failed = steps.filter(([name, [script, ...args]]) => {
  const begin = Date.now()
  const { status } = spawnSync(process.execPath, [join(root, script), ...args], { stdio: "inherit", env: { ...process.env, WAYBILL_PROOF: "long" } })
  console.log(`${name}: ${status === 0 ? "passed" : "FAILED"} in ${Math.round((Date.now() - begin) / 1000)} s`)
  return status !== 0
})
process.exitCode = failed.length
