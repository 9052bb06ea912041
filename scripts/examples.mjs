// npm run examples: checks that every example prints exactly what its README says
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { install, root } from "./workspace.mjs"

await install()

// npm sets it as well; this is for running the script without npm
const env = { ...process.env, PATH: join(root, "node_modules/.bin") + delimiter + process.env.PATH }
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
  const [file, ...args] = command.split(" ")
  const { error, signal, status, stderr, stdout } = spawnSync(file, [...args, "--silent"], { cwd: root, env, encoding: "utf8", timeout: 120_000 })
  if (status !== 0) fail(name, `${command}\nended with ${signal ?? status}${error ? `, ${error.message}` : ""}\n${stdout}${stderr}`)
  else if (stdout !== promised) fail(name, `${command}\nprints\n\n${stdout}\nbut its README says\n\n${promised}`)
  else console.log(`examples/${name}: output matches its README`)
}
process.exit(failures > 0 ? 1 : 0)

function fail(name, what) {
  failures += 1
  console.error(`examples/${name}: ${what}`)
}
