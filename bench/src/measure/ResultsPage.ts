/** `bench/results.md`: the last measurement of each scenario. */
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { figures, type ScenarioResult } from "./Report.ts"

const page = new URL("../../results.md", import.meta.url)

/** Where and on what it was measured. */
export interface Measured {
  /** ISO date and time. */
  readonly at: string
  /** Load average of the last minute, when it began. */
  readonly load: number
  readonly machine: string
}

/** Replaces the section of the scenario. `names`: of all scenarios, in the order of the page; sections of others are removed. */
export const record = (result: ScenarioResult, { at, load, machine }: Measured, names: ReadonlyArray<string>): void => {
  const [head, ...before] = readFileSync(page, "utf8").split(/^(?=## )/m)
  const sections = new Map(before.map((section) => [/^## (.+)/.exec(section)![1], section]))
  const measured = `Measured ${at.slice(0, 16).replace("T", " ")} UTC on ${commit()}, at load ${load.toFixed(1)}: ${machine}.`
  sections.set(result.name, `## ${result.name}\n\n${upperFirst(result.title)}. ${measured}\n\n\`\`\`text\n${figures(result).join("\n")}\n\`\`\`\n\n`)
  writeFileSync(page, `${head!.trimEnd()}\n\n${names.flatMap((name) => sections.get(name) ?? []).join("").trimEnd()}\n`)
}

const upperFirst = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}`

const commit = (): string => {
  const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { cwd: new URL("../../..", import.meta.url), encoding: "utf8" }).trim()
  const changed = git("status", "--porcelain", "--untracked-files=no", "--", "packages", "bench/src") === "" ? "" : " with changes"
  return `${git("rev-parse", "--short", "HEAD")}${changed}`
}
