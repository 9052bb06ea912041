// Checks and tests the rules for Prometheus with its own tool, where that is installed: Debian's package `prometheus` has it.
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "../workspace.mjs"

const directory = "docs/deploy/prometheus"
export const alertRules = `${directory}/alerts.yaml`
const ruleFiles = ["alerts.yaml", "recording.yaml"]
const testFile = "alerts.test.yaml"

/** @returns {{ tested: number, faults: string[], skipped?: string }} */
export function checkPrometheus() {
  if (spawnSync("promtool", ["--version"]).error?.code === "ENOENT") {
    return { tested: 0, faults: [], skipped: `skipped: promtool is not installed, which runs ${directory}/${testFile}; Debian has it in the package prometheus` }
  }
  const text = readFileSync(join(root, directory, testFile), "utf8")
  return {
    tested: text.match(/^  - name: /gm).length,
    faults: [...failureOf("check", "rules", ...ruleFiles), ...failureOf("test", "rules", testFile), ...unnoticed(text)]
  }
}

function failureOf(...args) {
  const { output, status } = promtool(join(root, directory), args)
  return status === 0 ? [] : [`${directory}: promtool ${args.join(" ")} failed\n\n${output}`]
}

/** Shows that the tests can fail: with another threshold they have to. */
function unnoticed(tests) {
  const scratch = mkdtempSync(join(tmpdir(), "waybill-rules-"))
  try {
    for (const name of ruleFiles) writeFileSync(join(scratch, name), readFileSync(join(root, directory, name), "utf8").replace("waybill_queue_lag_seconds) > 60", "waybill_queue_lag_seconds) > 6000"))
    writeFileSync(join(scratch, testFile), tests)
    return promtool(scratch, ["test", "rules", testFile]).status === 0 ? [`${directory}/${testFile}: no test noticed another threshold of WaybillQueueLag`] : []
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

function promtool(cwd, args) {
  const { error, status, stderr, stdout } = spawnSync("promtool", args, { cwd, encoding: "utf8", timeout: 60_000 })
  return { status, output: `${error?.message ?? ""}${stdout ?? ""}${stderr ?? ""}` }
}
