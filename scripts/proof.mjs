// npm run proof: the long forms of simulation, fuzzing, interleavings, chaos, the access matrix and both storages side by side. Test runs have their short forms. With names
// (`npm run proof -- simulation chaos`) only those. Each writes its result into docs/proof.md.
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { cpus, totalmem } from "node:os"
import { join } from "node:path"
import { stripVTControlCharacters } from "node:util"
import { install, root } from "./workspace.mjs"

/** The commands of each proof, and which parts of their output are kept. */
const steps = {
  simulation: { command: ["scripts/test.mjs", "--project", "simulation"], kept: /^simulation, part \d+: (.+)$/gm, tests: true },
  fuzzing: { command: ["scripts/test.mjs", "--project", "http", "fuzz"], kept: /^fuzzing: (.+)$/gm, tests: true },
  interleavings: { command: ["scripts/test.mjs", "--project", "postgres", "host/interleavings"], kept: /^interleavings: (.+)$/gm, tests: true },
  access: { command: ["scripts/test.mjs", "--project", "server", "hostile/AccessMatrix"], kept: /^access: (.+)$/gm, tests: true },
  storages: { command: ["scripts/test.mjs", "--project", "server", "hostile/SameAnswers"], kept: /^storages: (.+)$/gm, tests: true },
  chaos: { command: ["scripts/chaos.mjs"], kept: /^((?:events acknowledged|events arrived|kill -9) {2,}.+|seed \d+)$/gm, tests: false }
}

const page = join(root, "docs/proof.md")

await install()

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !(name in steps))
if (unknown.length > 0) {
  console.error(`npm run proof: there is no ${unknown.join(", ")}. There are ${Object.keys(steps).join(", ")}.`)
  process.exit(2)
}

const failed = []
for (const name of asked.length > 0 ? asked : Object.keys(steps)) {
  const began = Date.now()
  const { output, status } = await run(steps[name].command)
  const seconds = Math.round((Date.now() - began) / 1000)
  const result = status === 0 ? "passed" : "FAILED"
  if (status !== 0) failed.push(name)
  write(name, [result, triedIn(steps[name], output), `${seconds} s`, dateAndCommit(), machine()])
  console.log(`\n${name}: ${result} in ${seconds} s`)
}
if (failed.length > 0) console.log(`Run again, alone: ${failed.map((name) => `npm run proof -- ${name}`).join("; ")}. Seeds of failures are printed above.`)
process.exitCode = failed.length

async function run([script, ...args]) {
  const child = spawn(process.execPath, [join(root, script), ...args], { stdio: ["inherit", "pipe", "inherit"], env: { ...process.env, WAYBILL_PROOF: "long" } })
  let output = ""
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text
    process.stdout.write(text)
  })
  const [status] = await once(child, "close")
  return { status, output: stripVTControlCharacters(output) }
}

/** Adds the numbers of lines with the same words. */
function triedIn({ kept, tests }, output) {
  const counted = new Map()
  const said = []
  for (const [, line] of output.matchAll(kept)) {
    const counts = line.split(", ").map((each) => /^(\d+) (.+)$/.exec(each))
    if (counts.includes(null)) said.push(line.trim().replaceAll(/ +/g, " "))
    else for (const [, count, what] of counts) counted.set(what, (counted.get(what) ?? 0) + Number(count))
  }
  const sums = [...counted].map(([what, count]) => `${count.toLocaleString("en-US")} ${what}`)
  const ended = tests ? /^ +Tests +(.+?) \(/m.exec(output)?.[1] : undefined
  return [...sums, ...said, ...(ended === undefined ? [] : [`tests: ${ended.replaceAll(" | ", ", ")}`])].join(", ")
}

function dateAndCommit() {
  const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim()
  const changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/proof.md") === "" ? "" : " and changes"
  return `${new Date().toISOString().slice(0, 10)}, ${git("rev-parse", "--short", "HEAD")}${changed}`
}

function machine() {
  return `${cpus().length} × ${cpus()[0].model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB`
}

function write(name, cells) {
  // the table above has a row for each as well
  const [before, results] = readFileSync(page, "utf8").split(/(?=^## Last results$)/m)
  const row = new RegExp(`^\\| ${name} \\|.*$`, "m")
  if (results === undefined || !row.test(results)) throw new Error(`docs/proof.md has no row for ${name} below "Last results".`)
  writeFileSync(page, before + results.replace(row, () => `| ${[name, ...cells].join(" | ")} |`))
}
