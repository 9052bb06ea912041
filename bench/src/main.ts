/** Runs scenarios one after the other and prints their results: `npm run bench -- [names…] [--quick] [--profile=<dir>]`. */
import { mkdirSync, writeFileSync } from "node:fs"
import { cpus, loadavg, totalmem } from "node:os"
import { resolve } from "node:path"
import { startChild } from "./machine/Child.ts"
import { settings, startPostgres } from "./machine/PostgresServer.ts"
import type { ReceiverHandlers } from "./machine/receiver-process.ts"
import { isMet, render, type ScenarioResult } from "./measure/Report.ts"
import { record } from "./measure/ResultsPage.ts"
import { scenarios } from "./scenarios/index.ts"

const args = process.argv.slice(2)
const quick = args.includes("--quick")
const profiles = args.find((arg) => arg.startsWith("--profile="))?.slice("--profile=".length)
const names = args.filter((arg) => !arg.startsWith("--"))
const unknown = names.filter((name) => !scenarios.some((scenario) => scenario.name === name))
if (unknown.length > 0) {
  console.error(`There is no scenario ${unknown.join(", ")}. There are: ${scenarios.map(({ name }) => name).join(", ")}.`)
  process.exit(1)
}

const postgres = await startPostgres()
try {
  const receiver = await startChild<ReceiverHandlers>(new URL("./machine/receiver-process.ts", import.meta.url), [])
  const url = `http://127.0.0.1:${await receiver.call.port()}`
  const bench = {
    postgres,
    quick,
    profiles: profiles === undefined ? undefined : resolve(profiles),
    receiver: new Proxy({ url, pid: receiver.pid }, { get: (own, name) => name === "url" || name === "pid" ? own[name] : receiver.call[name as keyof ReceiverHandlers] }) as
      & typeof receiver.call
      & { readonly url: string; readonly pid: number }
  }
  const machine = {
    at: new Date().toISOString(),
    node: process.version,
    postgres: postgres.version,
    settings,
    cpus: `${cpus().length} x ${cpus()[0]?.model ?? "unknown"}`,
    memoryGB: Math.round(totalmem() / 2 ** 30)
  }
  console.log(`Node ${process.version}, Postgres ${postgres.version}, ${machine.cpus}, ${machine.memoryGB} GB${quick ? "; quick: figures mean nothing" : ""}`)
  console.log(`Postgres settings: ${Object.entries(settings).map(([name, value]) => `${name}=${value}`).join(" ")}`)
  const results: Array<ScenarioResult> = []
  const write = () => {
    const folder = new URL("../results/", import.meta.url)
    mkdirSync(folder, { recursive: true })
    writeFileSync(new URL("latest.json", folder), `${JSON.stringify({ machine, quick, results }, null, 2)}\n`)
  }
  for (const scenario of scenarios) {
    if (names.length > 0 && !names.includes(scenario.name)) continue
    const began = { at: new Date().toISOString(), load: loadavg()[0]! }
    const result = { name: scenario.name, title: scenario.title, ...await scenario.run(bench) }
    results.push(result)
    console.log(render(result))
    write()
    if (!quick) record(result, { ...began, machine: `Node ${process.version}, Postgres ${postgres.version}, ${machine.cpus}, ${machine.memoryGB} GB` }, scenarios.map(({ name }) => name))
  }
  const verdicts = results.flatMap((result) => result.verdicts)
  console.log(`\n${verdicts.filter(isMet).length} of ${verdicts.length} targets met.`)
  await receiver.end()
} finally {
  await postgres.stop()
}
