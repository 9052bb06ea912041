// Checks that tests, metrics and log lines named in pages exist, and that pages name all errors, metrics and codes.
import { globSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { root } from "../workspace.mjs"
import { placeOf } from "./pages.mjs"

const read = (path) => readFileSync(join(root, path), "utf8")
const sources = () => globSync("packages/*/src/**/*.{ts,tsx}", { cwd: root }).map((path) => ({ path, text: read(path) }))

/** Tests are named as `[words](path of the file): "one name", "another"`. */
export const checkTests = (pages) => {
  const faults = []
  let named = 0
  for (const { path, prose } of pages) {
    for (const [, target, names] of prose.matchAll(/\]\(([^)\s]+\.ts)\): ((?:"[^"\n]+"(?:, |(?!, )))+)/g)) {
      const file = normalize(join(dirname(path), target))
      const text = read(file)
      for (const [, name] of names.matchAll(/"([^"]+)"/g)) {
        named += 1
        if (!new RegExp(`\\(\\s*(["'\`])${RegExp.escape(name)}\\1`).test(text)) faults.push(`${path}: ${file} has no test named "${name}"`)
      }
    }
  }
  return { named, faults }
}

/** Each guarantee names a test. */
export const checkGuarantees = ({ path, prose }) =>
  prose.split("\n")
    .filter((line) => /^\| \d+ \|/.test(line) && !/\.ts\): "/.test(line))
    .map((line) => `${path}: no test is named for guarantee ${line.split("|")[1].trim()}`)

const metricNames = () =>
  new Set(sources().flatMap(({ text }) => Array.from(text.matchAll(/(?:\b(?:counter|gauge|histogram|summary|frequency)|namedGauge)\("(\w+)"/g), ([, name]) => name)))

/** The metrics page and the alert rules name existing metrics only; the page names all of them. */
export const checkMetrics = ({ path, text }, rules) => {
  const there = metricNames()
  const named = (what) => new Set(Array.from(what.matchAll(/\bwaybill_[a-z_]+/g), ([name]) => name.replace(/_(bucket|sum|count)$/, "")))
  const inPage = named(text)
  return [
    ...[...inPage].filter((name) => !there.has(name)).map((name) => `${path}: there is no metric ${name}`),
    ...[...named(rules.text)].filter((name) => !there.has(name)).map((name) => `${rules.path}: there is no metric ${name}`),
    ...[...there].filter((name) => !inPage.has(name)).map((name) => `${path} does not say what ${name} means`)
  ]
}

/** The on-call page names every alert. */
export const checkAlerts = ({ path, prose }, rules) =>
  Array.from(rules.text.matchAll(/alert: (\w+)/g), ([, name]) => name)
    .filter((name) => !prose.includes(`\`${name}\``))
    .map((name) => `${path} does not say what to do about the alert ${name}`)

/** Log lines in pages exist in the sources; `…` marks variable parts. */
export const checkLogLines = (pages) => {
  const texts = sources().map(({ text }) => text)
  const blocks = pages.flatMap(({ blocks }) => blocks).filter(({ how, language }) => language === "text" && how === "logged")
  const faults = blocks.flatMap((block) =>
    block.code.trimEnd().split("\n").flatMap((line) =>
      line.split("…").map((part) => part.trim()).filter((part) => part.length > 3 && !texts.some((text) => text.includes(part)))
        .map((part) => `${placeOf(block)}: no source logs "${part}"`)))
  return { blocks, faults }
}

/** Internal errors that are always caught. */
const inward = new Set(["ConnectFailure", "KeysUnavailable", "NotAccepted", "PortInUse", "Refused", "ReplicaNotUsed", "WriteFailed"])

/** Rows of problems: `| status | code |`, or `| error | status | code |`. */
const rowOf = ({ code, name, status }) => new RegExp(`^\\| ${name === undefined ? "" : `\`${name}\` \\| `}${status}[^|]*\\| \`${code}\``, "m")

/** The errors page names every error class and every code that a caller can get, codes with their status. */
export const checkErrors = ({ path, text }) => {
  const files = sources().filter(({ path }) => !/^packages\/(testkit|conformance)\//.test(path))
  const classes = files.flatMap(({ text }) => Array.from(text.matchAll(/class (\w+) extends (?:Schema\.TaggedError|taggedFailure|Data\.TaggedError|Error\b)/g), ([, name]) => name))
  const http = files.filter(({ path }) => /^packages\/(http|server)\//.test(path)).map(({ text }) => text).join("\n")
  const problems = [
    ...http.matchAll(/[rR]efused\(\s*(?<status>\d{3}),\s*"(?<code>\w+)"/g),
    ...http.matchAll(/^ {2}(?<name>\w+): \[(?<status>\d{3}), "(?<code>\w+)"/gm),
    ...http.matchAll(/status: (?<status>\d{3}),\s*(?:title: "[^"]*",\s*detail: "[^"]*",\s*)?code: "(?<code>[a-z_]+)"/g)
  ].map(({ groups }) => groups)
  const reasons = ["RefusalReason", "CallFailure", "FaultCode"].flatMap((union) => {
    const declaring = files.find(({ text }) => text.includes(`type ${union} =`))?.text ?? ""
    const declared = new RegExp(`type ${union} =([^]*?)\\n\\n`).exec(declaring)?.[1] ?? ""
    const [, table] = /keyof typeof (\w+)/.exec(declared) ?? []
    const rows = table === undefined ? "" : new RegExp(`const ${table} = \\{([^]*?)\\n\\}`).exec(declaring)?.[1] ?? ""
    return [...Array.from(declared.matchAll(/"(\w+)"/g), ([, reason]) => reason), ...Array.from(rows.matchAll(/^ {2}(\w+):/gm), ([, reason]) => reason)]
  })
  const wanted = new Set([...classes.filter((name) => !inward.has(name)), ...reasons])
  return {
    named: wanted.size + problems.length,
    faults: [
      ...[...wanted].filter((name) => !text.includes(`\`${name}\``)).map((name) => `${path} does not say what ${name} means`),
      ...problems.filter((problem) => !rowOf(problem).test(text)).map(({ code, status }) => `${path} has no row for ${code} with status ${status}`)
    ]
  }
}
