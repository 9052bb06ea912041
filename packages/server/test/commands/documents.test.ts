import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { waybill } from "../../src/commands/Commands.ts"
import { exitCodes } from "../../src/commands/shared/Outcome.ts"
import { requirements } from "../../src/commands/check/Requirements.ts"

const document = readFileSync(new URL("../../../../docs/commands.md", import.meta.url), "utf8")

interface Shape {
  readonly name: string
  readonly subcommands: ReadonlyArray<{ readonly commands: ReadonlyArray<Shape> }>
  readonly examples: ReadonlyArray<unknown>
}

const below = ({ subcommands }: Shape): ReadonlyArray<Shape> => subcommands.flatMap(({ commands }) => commands)

/** Leaf commands only: `keys create`, not `keys`, which does nothing by itself. */
const leaves = (command: Shape, before: ReadonlyArray<string> = []): ReadonlyArray<{ readonly path: string; readonly command: Shape }> =>
  below(command).flatMap((each) => {
    const path = [...before, each.name]
    return below(each).length > 0 ? leaves(each, path) : [{ path: path.join(" "), command: each }]
  })

const all = leaves(waybill as unknown as Shape)

/** The text under a heading. */
const sectionOf = (heading: string): string => document.split(/^## /m).find((section) => section.startsWith(`${heading}\n`)) ?? ""

const flagsIn = (text: string): ReadonlyArray<string> => [...new Set(text.match(/--[a-z][a-z-]+/g) ?? [])].sort()

/** What a command prints with `--help`. */
const helpOf = async (path: string): Promise<string> => {
  const lines: Array<string> = []
  const output = { ...console, log: (...parts: ReadonlyArray<unknown>) => void lines.push(parts.join(" ")) }
  const shown = Command.runWith(waybill, { version: "1" })([...path.split(" "), "--help"])
  await Effect.runPromise(shown.pipe(Effect.provideService(Console.Console, output), Effect.provide(NodeServices.layer)) as Effect.Effect<void, unknown>)
  return lines.join("\n")
}

describe("docs/commands.md", () => {
  it("has exactly the commands of the program", () => {
    const listed = [...document.matchAll(/^\| `waybill ([a-z ]+?)(?: [<[][^`]*)?` \|/gm)].map(([, path]) => path!)
    expect(listed).toEqual(all.map(({ path }) => path))
  })

  it("names every flag of every command", async () => {
    for (const { path } of all.filter(({ path }) => path !== "serve")) {
      const help = await helpOf(path)
      expect(help).toContain(`waybill ${path}`)
      const [, flags = ""] = /^FLAGS\n([^]*?)\n\n/m.exec(help) ?? []
      const own = [...flags.matchAll(/^ +(--[a-z-]+)/gm)].map(([, flag]) => flag!).filter((flag) => !["--url", "--key", "--tenant", "--json", "--secret", "--secret-file"].includes(flag))
      expect({ path, flags: flagsIn(sectionOf(`\`waybill ${path}\``)) }).toEqual({ path, flags: expect.arrayContaining(own) })
    }
  })

  it("has every exit code and every requirement of check", () => {
    for (const code of Object.values(exitCodes)) expect(document).toMatch(new RegExp(`^\\| ${code} \\|`, "m"))
    const listed = [...sectionOf("`waybill check`").matchAll(/^\| `([a-z-]+)` \| (.*) \|$/gm)].map(([, id, sentence]) => ({ id, sentence }))
    expect(listed).toEqual(requirements.map(({ id, sentence }) => ({ id, sentence })))
  })
})

describe("the help", () => {
  it("has an example for every command", () => expect(all.filter(({ command }) => command.examples.length === 0).map(({ path }) => path)).toEqual([]))
})
