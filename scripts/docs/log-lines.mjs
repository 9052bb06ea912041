// docs/log-lines.md lists every log line of Waybill, read from the sources. `node scripts/docs/log-lines.mjs` regenerates the page.
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { root } from "../workspace.mjs"

const page = "docs/log-lines.md"

/** Functions that log their argument, with the log level. */
const wrappers = { sweepEvery: "warning", logDelivery: "warning", restarted: "error" }

/** The argument of `restarted` is the beginning of its line. */
const wholeLine = { restarted: (name) => `${name} failed with a defect, restarting in 1 s.` }

const levels = ["error", "warning", "info", "debug"]

/** The text of the string literal at this position, with `…` for the variable parts. */
const literalAt = (source, at) => {
  const quote = source[at]
  if (quote !== "\"" && quote !== "`") return undefined
  let text = ""
  for (let i = at + 1; i < source.length && source[i] !== quote; i++) {
    if (source[i] === "\\") text += source[++i]
    else if (quote === "`" && source.startsWith("${", i)) {
      let depth = 1
      for (i += 2; depth > 0; i++) depth += source[i] === "{" ? 1 : source[i] === "}" ? -1 : 0
      i -= 1
      text += "…"
    } else text += source[i]
  }
  return text
}

/** Names of the fields added to the line. */
const fieldsAfter = (source, at) => {
  const rest = source.slice(at, at + 400)
  const found = /^[^\n]*(?:\n[^\n]*){0,2}?annotateLogs\(\{([^}]*)\}/.exec(rest)
  if (found === null) return []
  return found[1].split(",").map((field) => /^\s*(\w+)\s*(?::|$)/.exec(field)?.[1]).filter((name) => name !== undefined)
}

const linesIn = (path) => {
  const source = readFileSync(join(root, path), "utf8")
  const found = []
  for (const match of source.matchAll(/Effect\.log(Error|Warning|Info|Debug)\(\s*/g)) {
    const text = literalAt(source, match.index + match[0].length)
    if (text !== undefined) found.push({ level: match[1].toLowerCase(), text, path, fields: fieldsAfter(source, match.index) })
  }
  for (const [name, level] of Object.entries(wrappers)) {
    for (const match of source.matchAll(new RegExp(`\\b${name}\\((?![^\\n]*=>)[^"\`\\n]*`, "g"))) {
      const text = literalAt(source, match.index + match[0].length)
      if (text !== undefined) found.push({ level, text: wholeLine[name]?.(text) ?? text, path, fields: [] })
    }
  }
  // the line that `restarted` itself logs is listed under each name
  return found.filter(({ text }) => !text.startsWith("… failed with a defect"))
}

export const writtenLogLines = () => {
  const lines = globSync("packages/{core,http,postgres,server}/src/**/*.ts", { cwd: root }).flatMap((path) => linesIn(path.replaceAll("\\", "/")))
  const inOrder = lines.toSorted((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level) || (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
  return [
    "# Log lines",
    "",
    "Every line that Waybill logs, most severe first. `…` stands for what varies. `fields` are added to the line; an error's own message and cause",
    "follow it. What to do about most of them stands in [on call](on-call.md). This page is written by `node scripts/docs/log-lines.mjs`.",
    "",
    "| level | line | fields | logged by |",
    "|---|---|---|---|",
    ...inOrder.map(({ fields, level, path, text }) =>
      `| ${level} | ${text.replaceAll("|", "\\|")} | ${fields.map((field) => `\`${field}\``).join(", ")} | [${path.split("/").at(-1)}](../${path}) |`),
    ""
  ].join("\n")
}

export const checkWrittenLogLines = () =>
  readFileSync(join(root, page), "utf8") === writtenLogLines() ? [] : [`${page} is not what the sources say. Write it anew: node scripts/docs/log-lines.mjs`]

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(join(root, page), writtenLogLines())
