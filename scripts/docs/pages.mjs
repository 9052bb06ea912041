// Parses a page: headings, links, and code blocks with how to check them.
//
// A comment directly above a block says how it is checked, <!-- docs: … -->:
//
//   ts            compiled. `continues` joins it to the one before, `file server.ts` names it, `runs` runs it, `tests` runs it
//                 under node --test, `on postgres` gives it a DATABASE_URL
//   sh            parsed by the parser of `waybill`. `runs` executes it, `serves until <words>` keeps it running after it prints them
//   text          output of the block before it; `from <word>` output of the server whose command has that word; `logged` lines
//                 of the log. `…` marks variable parts
//   sql           `runs` sends it to a database with our tables
//   any           `skipped: <reason>`
//
// For the whole page: `ports 8080 9000` and `database <url>` are replaced by free ones; <!-- docs: given, and lines up to -->,
// declares names for its programs; <!-- docs: file, with a name in the next line, is a hidden file.
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../workspace.mjs"

/** Pages whose blocks are compiled, run or parsed. */
const documentation = ["README.md", "docs/**/*.md", "packages/*/README.md"]

/** More pages whose links are checked. `npm run examples` checks the output in the examples' READMEs. */
const others = ["CONTRIBUTING.md", "SECURITY.md", "examples/*/README.md", "bench/README.md"]

/** `docs/site` holds copies of the pages. */
const found = (patterns) => globSync(patterns, { cwd: root, exclude: (name) => name === "node_modules" || name === "site" }).sort()

/** A page of faults that the checks have to report. */
export const canary = "scripts/docs/canary.md"

export const readPages = () => [...found(documentation), canary].map(readPage)

export const readOtherPages = () => found(others).map(readPage)

/**
 * @typedef {object} Block
 * @property {string} page
 * @property {number} line of its first line of code, from 1
 * @property {string} language
 * @property {string} code
 * @property {string} how the text of the comment above it, such as `runs` or `skipped: needs Docker`; empty without one
 * @property {Block | undefined} next the block after it
 */

const readPage = (path) => {
  const text = readFileSync(join(root, path), "utf8")
  const page = { path, text, blocks: [], settings: [], prose: "", faults: [] }
  const prose = []
  let how = ""
  let open
  let comment
  text.split("\n").forEach((line, at) => {
    if (open !== undefined) {
      if (line === open.fence) {
        const previous = page.blocks.at(-1)
        const block = { page: path, line: open.line, language: open.language, code: open.code.join("\n") + "\n", how: open.how, next: undefined }
        if (previous !== undefined) previous.next = block
        page.blocks.push(block)
        open = undefined
      } else open.code.push(line)
      return
    }
    if (comment !== undefined) {
      if (line === "-->") {
        page.settings.push({ kind: comment.kind, text: comment.lines.join("\n"), line: comment.line })
        comment = undefined
      } else comment.lines.push(line)
      return
    }
    const fence = /^(\s*)(```+)(\w*)/.exec(line)
    if (fence !== null) {
      if (fence[1] !== "") page.faults.push(`${path}:${at + 1}: a block must not be indented, because indented blocks are not checked`)
      open = { fence: fence[2], language: fence[3], line: at + 2, how, code: [] }
      how = ""
      return
    }
    const one = /^<!-- docs: (.+?) -->$/.exec(line)
    const many = /^<!-- docs: (\w+)$/.exec(line)
    if (one !== null) {
      const setting = /^(ports|database) (.+)$/.exec(one[1])
      if (setting === null) how = one[1]
      else page.settings.push({ kind: setting[1], text: setting[2], line: at + 1 })
    } else if (many !== null) comment = { kind: many[1], line: at + 2, lines: [] }
    else if (line.includes("<!-- docs:")) page.faults.push(`${path}:${at + 1}: this docs comment is not valid`)
    else {
      if (line !== "" && how !== "") page.faults.push(`${path}:${at}: "${how}" must be in the line above its block`)
      if (line !== "") how = ""
      prose.push(line)
    }
  })
  if (open !== undefined) page.faults.push(`${path}:${open.line}: this block is not closed`)
  page.prose = prose.join("\n")
  return page
}

/** The reason if a block is skipped. */
export const skipReason = ({ how }) => /^skipped: (.+)$/.exec(how)?.[1]

export const isRun = (how) => /(^|, )(runs|serves|tests)\b/.test(how)

export const placeOf = ({ line, page }) => `${page}:${line}`

/** Anchors as on GitHub: lower case, without punctuation, hyphens for spaces, numbered for repeated headings. */
export const anchorsOf = ({ prose }) => {
  const seen = new Map()
  const anchors = new Set()
  for (const [, title] of prose.matchAll(/^#{1,6} (.+)$/gm)) {
    const plain = title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "")
    const anchor = plain.toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-")
    const times = seen.get(anchor) ?? 0
    seen.set(anchor, times + 1)
    anchors.add(times === 0 ? anchor : `${anchor}-${times}`)
  }
  return anchors
}

/** Compares output with a page: `…` matches any text within a line, a line with only `…` matches any lines. */
export const agrees = (printed, promised) => {
  const pattern = promised.trimEnd().split("\n").map((line) =>
    line === "…" ? "(?:[^\\n]*\\n)*?[^\\n]*" : line.trimEnd().split("…").map(RegExp.escape).join("[^\\n]*"))
  return new RegExp(`^${pattern.join("\\n")}$`).test(printed.split("\n").map((line) => line.trimEnd()).join("\n").trimEnd())
}
