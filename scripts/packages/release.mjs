// npm run release: publishes the versions that `npm run version` set, from CI, with provenance. With --dry-run it publishes nothing.
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../workspace.mjs"

const dryRun = process.argv.includes("--dry-run")
const { CI_PROJECT_URL, GITHUB_REPOSITORY, GITHUB_SERVER_URL } = process.env
const address = GITHUB_REPOSITORY ? `${GITHUB_SERVER_URL ?? "https://github.com"}/${GITHUB_REPOSITORY}` : CI_PROJECT_URL
if (!address) end("Releases are made by GitHub Actions or GitLab CI, because only they can vouch for where a package was built.")

const pending = readdirSync(join(root, ".changeset")).filter((file) => file.endsWith(".md") && file !== "README.md")
if (pending.length > 0) end(`npm run version first: ${pending.join(", ")}`)

const names = readdirSync(join(root, "packages"))
for (const name of names) {
  const file = join(root, "packages", name, "package.json")
  const manifest = JSON.parse(readFileSync(file, "utf8"))
  if (manifest.version === "0.0.0") end(`npm run version first: ${manifest.name} has no version yet`)
  // the registry compares it with the repository in the provenance, so it is read from the CI environment
  const repository = { type: "git", url: `git+${address}.git`, directory: `packages/${name}` }
  writeFileSync(file, `${JSON.stringify({ ...manifest, repository }, null, 2)}\n`)
}

run("npm", ["run", "packages"])
if (dryRun) for (const name of names) run("npm", ["publish", "--dry-run", "--provenance=false"], join(root, "packages", name))
else run("changeset", ["publish"])

function run(file, args, cwd = root) {
  const { error, status } = spawnSync(file, args, { cwd, stdio: "inherit" })
  if (status !== 0) end(error?.message ?? `${file} ${args.join(" ")} ended with ${status}`)
}

function end(why) {
  console.error(why)
  process.exit(1)
}
