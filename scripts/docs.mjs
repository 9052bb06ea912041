// npm run docs: checks README.md and docs/. Code compiles, programs and commands print the documented output, links resolve,
// and named tests, metrics, errors and log lines exist.
import { spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { checkCommandNames, checkCommands } from "./docs/commands.mjs"
import { checkGlossary } from "./docs/glossary.mjs"
import { checkIndex, checkLinks } from "./docs/links.mjs"
import { checkWrittenLogLines } from "./docs/log-lines.mjs"
import { checkAlerts, checkErrors, checkGuarantees, checkLogLines, checkMetrics, checkTests } from "./docs/mentions.mjs"
import { canary, isRun, placeOf, readOtherPages, readPages, skipReason } from "./docs/pages.mjs"
import { compile, layOut, promisedBy, runPrograms } from "./docs/programs.mjs"
import { runSessions } from "./docs/sessions.mjs"
import { runStatements } from "./docs/statements.mjs"
import { install, root } from "./workspace.mjs"

await install()

/** The expected reports of the faults in the canary page. */
const mustBeFound = [
  /nowhere\.md leads nowhere/, /no heading #none/, /no test named "that nobody wrote"/, /waybill frobnicate/, /is not valid JSON/,
  /waybill retry --no-such-flag/, /no script no-such-script/, /nobody checks frobnicate/, /is not assignable to type 'number'/,
  /prints\n\none\n[^]*another/, /printed is\n\none\n[^]*yet another/, /nothing says "Nothing that we log/, /relation "waybill.nobody" does not exist/, /is retired/, /nobody looks at this block/
]

const began = Date.now()
const pages = readPages()
const pageOf = (path) => pages.find((page) => page.path === path)
const blocks = pages.flatMap((page) => page.blocks)
const faults = pages.flatMap((page) => page.faults)
const tell = (count, what, found = []) => {
  faults.push(...found)
  console.log(`${String(count).padStart(5)} ${what}`)
}

const links = checkLinks([...pages, ...readOtherPages()])
tell(links.followed, "links lead somewhere", [...links.faults, ...checkIndex(pages)])

const documents = blocks.filter(({ how, language }) => language === "json" && how === "")
tell(documents.length, "blocks of JSON are JSON", documents.flatMap(jsonFaults))

const tests = checkTests(pages)
tell(tests.named, "tests that are named exist", [...tests.faults, ...checkGuarantees(pageOf("docs/guarantees.md"))])
const errors = checkErrors(pageOf("docs/errors.md"))
tell(errors.named, "errors and codes are explained", errors.faults)
const rules = { path: "docs/alerts.yaml", text: readFileSync(join(root, "docs/alerts.yaml"), "utf8") }
const onCall = pageOf("docs/on-call.md")
faults.push(...checkMetrics(onCall, rules), ...checkAlerts(onCall, rules))
const logged = checkLogLines(pages)
tell(logged.blocks.length, "blocks of log lines are what the source says", [...logged.faults, ...checkWrittenLogLines()])

const glossary = checkGlossary(pageOf("docs/glossary.md"))
tell(glossary.words, "retired words stand nowhere", glossary.faults)

const commands = checkCommands(pages)
tell(commands.looked, "commands that are shown can be typed", [...commands.faults, ...checkCommandNames(pages)])

const projects = layOut(pages)
const files = projects.flatMap((project) => project.files)
// in parallel with the servers, which mostly wait
const compiling = compile(projects)

const database = postgres()
try {
  const programs = await runPrograms(projects, database.fresh)
  tell(programs.ran, "programs run and print what is promised", programs.faults)
  const statements = await runStatements(pages, database.fresh)
  tell(statements.sent, "blocks of SQL were sent to a database", statements.faults)
  const sessions = await runSessions(pages, database.fresh)
  tell(sessions.typed, "blocks of commands were typed in", sessions.faults)
} finally {
  await database.stop()
}

tell(files.flatMap((file) => file.blocks).length, "blocks of TypeScript compile", await compiling)

const promised = promisedBy(projects)
const skipped = blocks.filter((block) => skipReason(block) !== undefined)
tell(skipped.length, "blocks are left out on purpose:")
for (const block of skipped) console.log(`        ${placeOf(block)}: ${skipReason(block)}`)
faults.push(...blocks.filter(isOverlooked).map((block) => `${placeOf(block)}: nobody looks at this block; mark it (docs: skipped: and why)`))

const unnoticed = mustBeFound.filter((sign) => !faults.some((fault) => fault.startsWith(canary) && sign.test(fault)))
const real = [...faults.filter((fault) => !fault.startsWith(canary)), ...unnoticed.map((sign) => `${canary}: nobody noticed ${sign}`)]
for (const fault of real) console.error(`\n${fault}`)
console.log(`${real.length === 0 ? "all of it holds" : `${real.length} faults`}, after ${((Date.now() - began) / 1000).toFixed(0)} s`)
process.exit(real.length === 0 ? 0 : 1)

function jsonFaults(block) {
  try {
    JSON.parse(block.code)
    return []
  } catch (error) {
    return [`${placeOf(block)}: ${error.message}`]
  }
}

/** Text blocks are output: of the program or commands before them, of a server, or of the log. */
function isOverlooked(block) {
  if (skipReason(block) !== undefined || promised.has(block) || block.how === "logged" || block.how.startsWith("from ")) return false
  if (block.language === "text") return !blocks.some((each) => each.next === block && each.language === "sh" && each.how === "runs")
  return !["ts", "tsx", "sh", "json"].includes(block.language) && !(block.language === "sql" && isRun(block.how))
}

/** One shared Postgres, started on first use. Each caller gets its own database, as a user without other rights. */
function postgres() {
  let started
  const start = async () => {
    const child = spawn(join(root, "node_modules/.bin/node"), [
      "--conditions=@waybill/source", "--disable-warning=ExperimentalWarning", join(root, "scripts/docs/database.mjs")
    ], { cwd: root, stdio: ["pipe", "pipe", "inherit"] })
    for await (const url of createInterface({ input: child.stdout })) return { child, url }
    throw new Error("The database did not start.")
  }
  return {
    fresh: async () => {
      const { url } = await (started ??= start())
      const { default: pg } = await import("pg")
      const client = new pg.Client({ connectionString: url })
      const name = `docs_${randomUUID().replaceAll("-", "").slice(0, 12)}`
      await client.connect()
      await client.query(`CREATE ROLE ${name} LOGIN PASSWORD '${name}'`)
      await client.query(`CREATE DATABASE ${name} OWNER ${name}`)
      await client.end()
      return Object.assign(new URL(url), { username: name, password: name, pathname: `/${name}` }).href
    },
    stop: async () => {
      if (started === undefined) return
      const { child } = await started
      const ended = new Promise((done) => child.once("exit", done))
      child.stdin.end()
      await ended
    }
  }
}
