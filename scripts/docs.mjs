// npm run docs: checks README.md and docs/. Code compiles, programs and commands print the documented output, links resolve,
// and named tests, metrics, errors and log lines exist.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { checkCommands } from "./docs/commands.mjs"
import { checkConformance } from "./docs/conformance.mjs"
import { checkGlossary } from "./docs/glossary.mjs"
import { checkIndex, checkLinks } from "./docs/links.mjs"
import { checkWrittenLogLines } from "./docs/log-lines.mjs"
import { checkAlerts, checkErrors, checkGuarantees, checkLogLines, checkMetrics, checkTests } from "./docs/mentions.mjs"
import { canary, isRun, placeOf, readOtherPages, readPages, skipReason } from "./docs/pages.mjs"
import { alertRules, checkPrometheus } from "./docs/prometheus.mjs"
import { compile, layOut, promisedBy, runPrograms } from "./docs/programs.mjs"
import { runSessions } from "./docs/sessions.mjs"
import { runStatements } from "./docs/statements.mjs"
import { temporaryPostgres } from "./postgres.mjs"
import { install, root } from "./workspace.mjs"

await install()

/** The expected reports of the faults in the canary page. */
const mustBeFound = [
  /nowhere\.md does not exist/, /no heading #none/, /no test named "that nobody wrote"/, /waybill frobnicate/, /is not valid JSON/,
  /waybill retry --no-such-flag/, /is shown only once/, /no script no-such-script/, /frobnicate is not checked/, /is not assignable to type 'number'/,
  /program prints\n\none\n[^]*another/, /commands print\n\none\n[^]*yet another/, /no source logs "Nothing that we log/, /relation "waybill.nobody" does not exist/, /is retired/, /this block is not checked/
]

const began = Date.now()
const pages = readPages()
const pageOf = (path) => pages.find((page) => page.path === path)
const blocks = pages.flatMap((page) => page.blocks)
const faults = pages.flatMap((page) => page.faults)
const report = (count, what, found = []) => {
  faults.push(...found)
  console.log(`${String(count).padStart(5)} ${what}`)
}

const links = checkLinks([...pages, ...readOtherPages()])
report(links.followed, "links resolve", [...links.faults, ...checkIndex(pages)])

const documents = blocks.filter(({ how, language }) => language === "json" && how === "")
report(documents.length, "blocks of JSON are valid", documents.flatMap(jsonFaults))

const tests = checkTests(pages)
report(tests.named, "named tests exist", [...tests.faults, ...checkGuarantees(pageOf("docs/guarantees.md"))])
const errors = checkErrors(pageOf("docs/errors.md"))
report(errors.named, "errors and codes are documented", errors.faults)
const rules = { path: alertRules, text: readFileSync(join(root, alertRules), "utf8") }
const onCall = pageOf("docs/on-call.md")
faults.push(...checkMetrics(onCall, rules), ...checkAlerts(onCall, rules))
const prometheus = checkPrometheus()
report(prometheus.tested, "tests of Prometheus rules passed", prometheus.faults)
if (prometheus.skipped !== undefined) console.log(`        ${prometheus.skipped}`)
const logged = checkLogLines(pages)
report(logged.blocks.length, "blocks of log lines match the sources", [...logged.faults, ...checkWrittenLogLines()])

faults.push(...checkConformance())

const glossary = checkGlossary(pageOf("docs/glossary.md"))
report(glossary.words, "retired words are not used", glossary.faults)

const commands = checkCommands(pages)
report(commands.looked, "commands in pages are valid", commands.faults)

const projects = layOut(pages)
const files = projects.flatMap((project) => project.files)
// in parallel with the servers, which mostly wait
const compiling = compile(projects)

const database = temporaryPostgres()
try {
  const programs = await runPrograms(projects, database.fresh)
  report(programs.ran, "programs print the documented output", programs.faults)
  const statements = await runStatements(pages, database.fresh)
  report(statements.sent, "blocks of SQL ran", statements.faults)
  const sessions = await runSessions(pages, database.fresh)
  report(sessions.typed, "blocks of commands ran", sessions.faults)
} finally {
  await database.stop()
}

report(files.flatMap((file) => file.blocks).length, "blocks of TypeScript compile", await compiling)

const promised = promisedBy(projects)
const skipped = blocks.filter((block) => skipReason(block) !== undefined && !placeOf(block).startsWith(canary))
report(skipped.length, "blocks are skipped:")
for (const block of skipped) console.log(`        ${placeOf(block)}: ${skipReason(block)}`)
faults.push(...blocks.filter(isOverlooked).map((block) => `${placeOf(block)}: this block is not checked; mark it as skipped with a reason (docs: skipped: …)`))

const unnoticed = mustBeFound.filter((sign) => !faults.some((fault) => fault.startsWith(canary) && sign.test(fault)))
const real = [...faults.filter((fault) => !fault.startsWith(canary)), ...unnoticed.map((sign) => `${canary}: no check reported ${sign}`)]
for (const fault of real) console.error(`\n${fault}`)
console.log(`${real.length === 0 ? "no faults" : `${real.length} faults`}, after ${((Date.now() - began) / 1000).toFixed(0)} s`)
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
