// npm run secrets: checks that no test output contains a secret. Runs the tests and searches everything that they and
// their child processes print, and that services log and answer to refused calls; vitest.output.ts collects it. With a
// directory (`npm run secrets -- <directory>`) it searches the output of an earlier run with WAYBILL_TEST_OUTPUT.
import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { disclosures, findings, publicSamples } from "./secrets/find.mjs"
import { root } from "./workspace.mjs"

const canaryCommand = /the canary of npm run secrets/

const given = process.argv[2]
const directory = given ?? record()
let failures = 0
try {
  judge(directory)
} finally {
  if (given === undefined) rmSync(directory, { recursive: true, force: true })
}
process.exit(failures > 0 ? 1 : 0)

function record() {
  console.error("Running all tests and recording their output …")
  const output = mkdtempSync(join(tmpdir(), "waybill-output-"))
  const run = spawnSync(process.execPath, [join(root, "scripts/test.mjs")], {
    cwd: root, env: { ...process.env, WAYBILL_TEST_OUTPUT: output }, encoding: "utf8", maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "pipe"]
  })
  writeFileSync(join(output, "test.log"), run.stdout + run.stderr)
  if (run.status !== 0) fail(`The tests ended with ${run.signal ?? run.status}; run npm test to see why.`)
  return output
}

function judge(output) {
  const files = readdirSync(output)
  const read = (file) => readFileSync(join(output, file), "utf8")
  const values = new Set(files.filter((file) => file.endsWith(".secrets")).flatMap((file) => read(file).split("\n")).filter((value) => value !== ""))
  const said = files.filter((file) => /\.(log|stdout|stderr)$/.test(file))
  const commandOf = (file) => files.includes(file.replace(/\.\w+$/, ".command")) ? read(file.replace(/\.\w+$/, ".command")).trim() : "npm test"

  checkThatItLooks()
  checkRecordedOutput(said, values)
  let canaries = 0
  const used = new Set()
  for (const file of said) {
    const command = commandOf(file)
    for (const { line, masked, secret, what } of findings(read(file), values)) {
      if (canaryCommand.test(command)) {
        canaries += 1
        continue
      }
      const disclosure = disclosures.find((each) => each.command.test(command) && file.endsWith(each.stream) && each.what === what && each.line.test(masked))
      if (disclosure !== undefined) used.add(disclosure)
      else if (!publicSamples.includes(secret)) fail(`${what} in ${file}, line ${line}, of ${command.slice(-120)}:\n  ${masked.slice(0, 400)}`)
    }
  }
  if (canaries === 0) fail("The canary's secret was not found: its output was not recorded or not searched. See packages/server/test/program/secrets.test.ts.")
  for (const each of disclosures) if (!used.has(each)) fail(`No output discloses ${each.what} (${each.why}) any more. Remove it from disclosures in scripts/secrets/find.mjs.`)
  if (failures === 0) console.log(`No secret in ${said.length} outputs; ${values.size} secrets and all strings of their formats were searched`)
}

/** Proves that every kind of secret is found in a sample line, and masked. */
function checkThatItLooks() {
  const samples = {
    "an API key": `wb.YWNtZQ.01a1f7e2-3442-7503-a070-1baffbfbc48e.${"k".repeat(43)}`,
    "a webhook secret": `whsec_${Buffer.alloc(32, 5).toString("base64")}`,
    "a token": `eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJzaG9wIn0.${"s".repeat(86)}`,
    "a private key": "-----BEGIN EC PRIVATE KEY-----kkkkkkkkkkkkkkkkkkkkkkkk",
    "a database password": "postgres://waybill:hunter2@db.internal/waybill",
    "a known secret": "not to be printed/"
  }
  const values = new Set([samples["a known secret"]])
  for (const [what, secret] of Object.entries(samples)) {
    for (const written of [secret, JSON.stringify({ secret }), ...(what === "a known secret" ? [encodeURIComponent(secret), Buffer.from(secret).toString("base64")] : [])]) {
      const [found] = findings(`nothing here\n\u001b[31mtold ${written}\u001b[39m, it was\n`, values)
      if (found?.what !== what || found.line !== 2 || /kkkk|BQUF|ssss|hunter2|not to be|bm90IHRv/.test(found.masked)) fail(`${what} was not found in: ${written}`)
    }
  }
  if (findings("postgres://waybill:…@db.internal/waybill whsec_… wb.… and a word", values).length > 0) fail("A masked value is reported as a secret.")
}

/** An empty directory would pass as well, so it is an error. */
function checkRecordedOutput(said, values) {
  const counts = { "test.log": 1, "service-": 1, ".stdout": 10, ".stderr": 10 }
  for (const [part, least] of Object.entries(counts)) {
    const found = said.filter((file) => file.includes(part)).length
    if (found < least) fail(`Only ${found} outputs have ${part} in their name, expected at least ${least}. Did all tests run with WAYBILL_TEST_OUTPUT?`)
  }
  if (values.size < 10) fail(`Only ${values.size} secrets were collected, expected at least 10.`)
}

function fail(what) {
  failures += 1
  console.error(what)
}
