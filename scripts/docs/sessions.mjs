// Runs blocks of commands marked `runs` in one shell per page, against running servers.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fromSources, node, root } from "../workspace.mjs"
import { agrees, isRun, placeOf } from "./pages.mjs"

const patienceMillis = 180_000

const isTyped = ({ how, language }) => language === "sh" && isRun(how)

/** @returns how many blocks were run, and where the output differs from the page */
export const runSessions = async (pages, databaseUrl) => {
  const faults = []
  let typed = 0
  for (const page of pages.filter(({ blocks }) => blocks.some(isTyped))) {
    const blocks = page.blocks.filter(isTyped)
    typed += blocks.length
    faults.push(...await typeIn(page, blocks, databaseUrl))
  }
  return { typed, faults }
}

const typeIn = async (page, blocks, databaseUrl) => {
  const directory = mkdtempSync(join(tmpdir(), "waybill-docs-"))
  const replaced = await replacements(page, databaseUrl)
  const swap = (text, from, to) => replaced.reduce((all, each) => all.replaceAll(each[from], each[to]), text)
  programsIn(join(directory, "bin"))
  writeFileSync(join(directory, "session.sh"), scriptOf(blocks.map((block) => ({ ...block, code: swap(block.code, "shown", "real") })), directory))
  mkdirSync(join(directory, "work"))
  const shell = spawn("bash", [join(directory, "session.sh")], {
    cwd: join(directory, "work"),
    env: { ...ownVariables(), PATH: `${join(directory, "bin")}:${process.env.PATH}`, WAYBILL_LOG_FORMAT: "json" },
    stdio: ["ignore", "pipe", "pipe"],
    // its own process group, with the servers
    detached: true
  })
  let output = ""
  shell.stdout.on("data", (bytes) => (output += bytes))
  shell.stderr.on("data", (bytes) => (output += bytes))
  const limit = setTimeout(() => endGroup(shell.pid), patienceMillis)
  const [code] = await once(shell, "exit")
  clearTimeout(limit)
  endGroup(shell.pid)
  const faults = compare(page, swap(output, "real", "shown"), code, blocks.map((_, at) => swap(logOf(directory, at), "real", "shown")))
  rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  return faults
}

const logOf = (directory, at) => {
  const path = join(directory, `serves-${at}.log`)
  return existsSync(path) ? readFileSync(path, "utf8") : ""
}

/** Removes Waybill settings of the user's environment, which differ from those of the page. */
const ownVariables = () => Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("WAYBILL_")))

const endGroup = (pid) => {
  try {
    process.kill(-pid, "SIGKILL")
  } catch {
    // the whole group has ended
  }
}

const replacements = async ({ settings }, databaseUrl) => {
  const replaced = []
  for (const { kind, text } of settings) {
    if (kind === "ports") for (const port of text.split(" ")) replaced.push({ shown: port, real: String(await freePort()) })
    if (kind === "database") replaced.push({ shown: text, real: await databaseUrl() })
  }
  return replaced
}

const freePort = async () => {
  const server = createServer()
  await once(server.listen(0, "127.0.0.1"), "listening")
  const { port } = server.address()
  await new Promise((done) => server.close(done))
  return port
}

/** `waybill` and `npx waybill` are the program from source. */
const programsIn = (directory) => {
  mkdirSync(directory)
  const program = `exec "${node}" ${fromSources.join(" ")} "${join(root, "packages/server/src/main.ts")}" "$@"`
  for (const [name, text] of [["waybill", program], ["npx", `[ "$1" = waybill ] || exit 127\nshift\n${program}`]]) {
    writeFileSync(join(directory, name), `#!/bin/sh\n${text}\n`)
    chmodSync(join(directory, name), 0o755)
  }
}

const border = (at) => `=== block ${at} ===`

const scriptOf = (blocks, directory) => [
  "set -euo pipefail",
  ...blocks.flatMap(({ code, how }, at) => {
    const until = /\bserves until (.+)$/.exec(how)?.[1]
    const log = `"${directory}/serves-${at}.log"`
    return [
      `printf '\\n%s\\n' "${border(at)}"`,
      ...(until === undefined
        ? [code]
        : [`{\n${code}} > ${log} 2>&1 &`, `server=$!`, `until grep -qF '${until}' ${log} 2>/dev/null; do kill -0 $server 2>/dev/null || { cat ${log}; exit 1; }; sleep 0.1; done`])
    ]
  })
].join("\n")

/** The output of a block is in the text block after it; output of a server may be shown anywhere (`from` and a word of its command). */
const compare = (page, output, code, logs) => {
  const blocks = page.blocks.filter(isTyped)
  const parts = output.split(/^=== block \d+ ===\n/m).slice(1)
  const last = blocks[parts.length - 1]
  if (code !== 0) return [`${placeOf(last)}: these commands ended with ${code}\n${parts.at(-1)}\n${logs.map((log) => log.slice(-1500)).join("\n")}`]
  const shown = page.blocks.flatMap((block) => {
    const word = /^from (.+)$/.exec(block.how)?.[1]
    const at = word === undefined ? blocks.findIndex(({ how, next }) => next === block && how === "runs") : blocks.findIndex(({ code, how }) => how.startsWith("serves") && code.includes(word))
    const isOutput = ["text", "json"].includes(block.language) && (block.how === "" || word !== undefined)
    return at < 0 || !isOutput ? [] : [{ block, printed: word === undefined ? parts[at] : logs[at] }]
  })
  return shown.filter(({ block, printed }) => !agrees(printed, block.code)).map(({ block, printed }) => `${placeOf(block)}: these commands print\n\n${printed}\nbut the page says\n\n${block.code}`)
}
