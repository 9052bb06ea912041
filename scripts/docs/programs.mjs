// Compiles blocks of TypeScript as modules, page by page, and runs those marked `runs`.
import { spawn } from "node:child_process"
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join, relative } from "node:path"
import { fromSources, node, root } from "../workspace.mjs"
import { agrees, isRun, placeOf, skipReason } from "./pages.mjs"

const tsc = join(root, "node_modules/typescript/bin/tsc")
/** Below the root, so that packages resolve; ignored by git and by the linter. */
const workplace = join(root, ".tsc/docs")

const packages = ["core", "http", "postgres", "testkit", "client", "conformance", "edi", "server", "../simulation"]

const isProgram = ({ language }) => language === "ts" || language === "tsx"

/**
 * A page's blocks as files. Each block has its own file, unless it continues the previous one. Line numbers are kept, so that
 * errors point into the page. The page's `given` declarations apply to all its files.
 */
export const layOut = (pages) => {
  rmSync(workplace, { recursive: true, force: true })
  return pages.filter(({ blocks }) => blocks.some(isProgram)).map((page) => {
    const directory = join(workplace, page.path.replaceAll("/", "_").replace(/\.md$/, ""))
    const files = []
    for (const block of page.blocks.filter(isProgram)) {
      if (skipReason(block) !== undefined) continue
      const before = block.how.startsWith("continues") ? files.at(-1) : undefined
      const file = before ?? { name: /\bfile ([^\s,]+)/.exec(block.how)?.[1] ?? `block${block.line}.ts`, lines: [], blocks: [] }
      while (file.lines.length < block.line - 1) file.lines.push("")
      file.lines.push(...block.code.trimEnd().split("\n"))
      file.blocks.push(block)
      if (before === undefined) files.push(file)
    }
    for (const { lines, name } of files) write(join(directory, name), `${lines.join("\n")}\n`)
    const given = page.settings.filter(({ kind }) => kind === "given").map(({ text }) => text).join("\n")
    if (given !== "") write(join(directory, "given.ts"), asGiven(given))
    for (const { line, text } of page.settings.filter(({ kind }) => kind === "file")) {
      const [name, ...lines] = text.split("\n")
      write(join(directory, name), `${"\n".repeat(line)}${lines.join("\n")}\n`)
    }
    write(join(directory, "tsconfig.json"), JSON.stringify({
      extends: relative(directory, join(root, "tsconfig.base.json")),
      compilerOptions: { customConditions: ["@waybill/source"], composite: false, declaration: false, declarationMap: false, sourceMap: false, noEmit: true },
      // the pages read the packages' declarations, which `npm run check` writes; from the sources each page would check them again
      references: packages.map((name) => ({ path: relative(directory, join(root, "packages", name)) })),
      include: ["**/*.ts", "**/*.tsx"]
    }))
    return { page, directory, files }
  })
}

/** Keeps imports at the top level; the rest is declared for every block of the page. */
const asGiven = (text) => {
  const lines = text.split("\n")
  const isImport = (line) => line.startsWith("import ")
  return `${lines.filter(isImport).join("\n")}\ndeclare global {\n${lines.filter((line) => !isImport(line)).join("\n").replaceAll(/^declare /gm, "")}\n}\nexport {}\n`
}

const write = (path, text) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** @returns compiler errors at the lines of the pages, and those of the packages that the pages import. */
export const compile = async (projects) => {
  // all pages in one process, which reads the declarations of effect and of the packages once
  const { output } = await run(tsc, ["-b", ...projects.map(({ directory }) => directory), "--pretty", "false"], { cwd: workplace, timeout: 300_000 })
  const pageIn = (folder) => projects.find(({ directory }) => basename(directory) === folder).page.path
  const inPages = output.matchAll(/^(?!\.\.)([^\s/]+)\/(\S+?)\((\d+),\d+\): ((?:.*)(?:\n +.*)*)/gm)
  return [
    ...Array.from(inPages, ([, folder, file, line, fault]) => `${file === "given.ts" ? `${pageIn(folder)}, given` : `${pageIn(folder)}:${line}`}: ${fault}`),
    ...output.match(/^(?:error |\.\.\/).*/gm) ?? []
  ]
}

const isProgramRun = ({ blocks }) => blocks.some(({ how }) => isRun(how))

/** The output of a program is right after its last block. */
const promisedOf = ({ blocks }) => blocks.at(-1).next?.language === "text" ? blocks.at(-1).next : undefined

export const promisedBy = (projects) => new Set(projects.flatMap(({ files }) => files.filter(isProgramRun).map(promisedOf)))

/** Runs the blocks marked `runs`, and compares their output with the text block after them. */
export const runPrograms = async (projects, databaseUrl) => {
  const faults = []
  let ran = 0
  for (const { directory, files, page } of projects) {
    for (const { blocks, name } of files.filter(isProgramRun)) {
      ran += 1
      const how = blocks.map((block) => block.how).join(", ")
      const url = /\bon postgres\b/.test(how) ? await databaseUrl() : undefined
      const { output, status } = await run(node, [...fromSources, ...(/\btests\b/.test(how) ? ["--test"] : []), name], { cwd: directory, env: { ...process.env, ...(url === undefined ? {} : { DATABASE_URL: url }) } })
      const promised = promisedOf({ blocks })?.code
      if (status !== 0) faults.push(`${placeOf(blocks[0])}: this program ended with ${status}\n${output}`)
      else if (promised !== undefined && !agrees(output, promised)) {
        faults.push(`${placeOf(blocks[0])}: this program prints\n\n${output}\nbut ${page.path} says\n\n${promised}`)
      }
    }
  }
  return { ran, faults }
}

const run = (file, args, options) =>
  new Promise((resolve) => {
    const child = spawn(file, args, { timeout: 60_000, ...options, stdio: ["ignore", "pipe", "pipe"] })
    let output = ""
    child.stdout.on("data", (bytes) => (output += bytes))
    child.stderr.on("data", (bytes) => (output += bytes))
    child.on("error", (error) => resolve({ status: error.message, output }))
    child.on("close", (code, signal) => resolve({ status: code ?? signal, output }))
  })
