// Checks commands that are shown but not run: the program's own parser accepts them, and scripts and packages exist.
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fromSources, node, root } from "../workspace.mjs"
import { isRun, placeOf, skipReason } from "./pages.mjs"

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const installed = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages
/** npm commands that need no script. */
const builtIn = new Set(["ci", "install", "i", "start", "test", "run"])

const isShown = (block) => block.language === "sh" && !isRun(block.how)

/** @returns how many commands were checked, and which are invalid */
export const checkCommands = (pages) => {
  const faults = []
  const calls = []
  let looked = 0
  for (const block of pages.flatMap(({ blocks }) => blocks).filter(isShown)) {
    for (const words of commandsIn(block.code)) {
      const [name, ...args] = words[0] === "npx" ? words.slice(1) : words
      // what a skipped block lacks is a server or a file, not a command of this program
      if (skipReason(block) !== undefined && name !== "waybill") continue
      looked += 1
      if (name === "waybill") calls.push({ place: placeOf(block), args })
      else if (name === "npm") faults.push(...npmFaults(args).map((fault) => `${placeOf(block)}: ${fault}`))
      else faults.push(`${placeOf(block)}: ${name} is not checked; mark the block as run (docs: runs) or as skipped with a reason (docs: skipped: …)`)
    }
  }
  return { looked, faults: [...faults, ...refusedCalls([...calls, ...namesIn(pages)]), ...calls.filter(hidesItsResult).map(({ args, place }) => `${place}: waybill ${args.join(" ")} is refused: its result is shown only once, and needs --out or --show`)] }
}

/** Commands whose result is shown only once say where it goes. */
const hidesItsResult = ({ args }) => {
  const isNeeded = /^(keys create|portal link|secrets rotate)\b/.test(args.join(" ")) || (/^secrets put\b/.test(args.join(" ")) && !args.some((arg) => /^--(secret|no-rotate)/.test(arg)))
  return isNeeded && !args.some((arg) => /^--(out|show|help)\b/.test(arg))
}

/** Command names in prose, such as `waybill secrets put`; missing arguments are fine there. */
const namesIn = (pages) => {
  const names = new Map()
  for (const { path, prose } of pages) {
    for (const [, name] of prose.matchAll(/`(?:npx )?waybill ([a-z]+(?: [a-z]+(?=[ `]))?)[^`\n]*`/g)) if (!names.has(name)) names.set(name, path)
  }
  return Array.from(names, ([name, path]) => ({ place: path, args: name.split(" "), isName: true }))
}

/** In one process, because loading the parser takes seconds. */
const refusedCalls = (calls) => {
  const { status, stderr, stdout } = spawnSync(node, [...fromSources, join(root, "scripts/docs/parse.mjs")], { input: JSON.stringify(calls), encoding: "utf8", timeout: 60_000 })
  return status === 0 ? JSON.parse(stdout) : [`the commands could not be checked:\n${stdout}${stderr}`]
}

const npmFaults = ([verb = "", ...args]) => {
  if (!builtIn.has(verb)) return [`npm ${verb} is not checked`]
  if (verb === "run") {
    const inside = args.includes("-w") ? workspaceScripts(args[args.indexOf("-w") + 1]) : manifest.scripts
    return args[0] in inside ? [] : [`there is no script ${args[0]}`]
  }
  return args.filter((arg) => !arg.startsWith("-") && (verb === "i" || verb === "install")).flatMap((name) => {
    const plain = name.replace(/(?<=.)@[^/]*$/, "")
    return `node_modules/${plain}` in installed ? [] : [`package ${plain} is not in this repository or its lock file`]
  })
}

const workspaceScripts = (name) => {
  const place = Object.entries(installed).find(([path, entry]) => path === name || entry.name === name)?.[0] ?? name
  return JSON.parse(readFileSync(join(root, place, "package.json"), "utf8")).scripts ?? {}
}

/** The commands of a script, as words: split at lines, pipes and conjunctions, without settings, redirections and comments. */
const commandsIn = (code) => {
  const commands = []
  let words = []
  let word
  const endWord = () => {
    if (word !== undefined) words.push(word)
    word = undefined
  }
  const endCommand = () => {
    endWord()
    const first = words.findIndex((each) => !/^(export|[A-Z_]+=.*)$/.test(each))
    if (first >= 0) commands.push(withoutRedirections(words.slice(first)))
    words = []
  }
  const text = code.replaceAll(/\\\n/g, " ")
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === "#" && word === undefined) while (at < text.length && text[at] !== "\n") at++
    if (at >= text.length || text[at] === "\n" || ";|&".includes(text[at])) endCommand()
    else if (text[at] === "'" || text[at] === "\"") {
      const end = text.indexOf(text[at], at + 1)
      word = (word ?? "") + text.slice(at + 1, end)
      at = end
    } else if (text[at] === " ") endWord()
    else word = (word ?? "") + text[at]
  }
  endCommand()
  return commands
}

const withoutRedirections = (words) => words.filter((word, at) => !/^\d?[<>]/.test(word) && !/^\d?[<>]+$/.test(words[at - 1] ?? ""))
