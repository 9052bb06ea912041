// npm run examples: checks that every example prints exactly what its README says, and passes its tests
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { fromSources, install, root } from "./workspace.mjs"

await install()
const { buildPages } = await import("../packages/server/dashboard/build.mjs")

const env = {
  ...process.env,
  // npm sets it as well; this is for running the script without npm
  PATH: join(root, "node_modules/.bin") + delimiter + process.env.PATH,
  // examples whose scripts are those of a program elsewhere, without the name of the source files
  NODE_OPTIONS: [process.env.NODE_OPTIONS ?? "", ...fromSources].join(" ").trim()
}
// of the portal, which an example serves
await buildPages()
const examples = readdirSync(join(root, "examples"), { withFileTypes: true }).filter((entry) => entry.isDirectory() && /^\d/.test(entry.name))
let failures = 0

for (const { name } of examples) {
  const readme = readFileSync(join(root, "examples", name, "README.md"), "utf8")
  const command = /```sh\n(.+)\n```/.exec(readme)?.[1]
  const promised = /```text\n([^]*?)```/.exec(readme)?.[1]
  if (command === undefined || promised === undefined) {
    fail(name, "its README needs a command (```sh) and its output (```text)")
    continue
  }
  const stdout = run(name, command)
  if (stdout !== undefined && stdout !== promised) fail(name, `${command}\nprints\n\n${stdout}\nbut its README says\n\n${promised}`)
  else if (stdout !== undefined) console.log(`examples/${name}: output matches its README`)
  const { scripts } = JSON.parse(readFileSync(join(root, "examples", name, "package.json"), "utf8"))
  if (scripts.test !== undefined && run(name, `npm test -w examples/${name}`) !== undefined) console.log(`examples/${name}: its tests pass`)
}
process.exit(failures > 0 ? 1 : 0)

/** The output of a command of npm; undefined if it failed. */
function run(name, command) {
  const [file, ...args] = command.split(" ")
  const { error, signal, status, stderr, stdout } = spawnSync(file, [...args, "--silent"], { cwd: root, env, encoding: "utf8", timeout: 120_000 })
  if (status === 0) return stdout
  fail(name, `${command}\nended with ${signal ?? status}${error ? `, ${error.message}` : ""}\n${stdout}${stderr}`)
  return undefined
}

function fail(name, what) {
  failures += 1
  console.error(`examples/${name}: ${what}`)
}
