// npm run boundaries: checks that no package has a forbidden import, that every source file is read, and that every rule still works.
import { cpSync, globSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { cruise } from "dependency-cruiser"
import config from "../../.dependency-cruiser.mjs"

// the dashboard is built for a browser and is not in the src of its package
const sources = ["packages/*/src/**/*.ts", "packages/server/dashboard/**/*.{ts,tsx}"]
const here = dirname(fileURLToPath(import.meta.url))
const root = join(here, "../..")
const canaries = join(here, "canaries")
const complaints = [...await checkSources(), ...await checkCanaries()]
if (complaints.length > 0) {
  console.error(complaints.join("\n"))
  process.exit(1)
}

async function checkSources() {
  const { modules, violations } = await judge(root)
  const unread = globSync(sources, { cwd: root }).filter((file) => !modules.has(file))
  const imports = [...modules.values()].reduce((sum, module) => sum + module.dependencies.length, 0)
  console.log(`${modules.size} source files with ${imports} imports read, ${violations.length} forbidden`)
  return [
    ...violations.map(({ from, rule, to }) => {
      const { comment } = config.forbidden.find(({ name }) => name === rule.name)
      return `${from} → ${to}\n  ${rule.name}: ${comment}`
    }),
    ...unread.map((file) => `${file} was not read`)
  ]
}

/**
 * Each folder of canaries/ is named after a rule and holds files that break it, except `permitted`, which breaks none.
 * They are checked in a copy of the tree at the path that they imitate.
 */
async function checkCanaries() {
  const mirror = realpathSync(mkdtempSync(join(tmpdir(), "waybill-canaries-")))
  try {
    linkInstalledPackages(mirror)
    for (const file of globSync("packages/*/package.json", { cwd: root })) cpSync(join(root, file), join(mirror, file))
    const rules = readdirSync(canaries)
    for (const rule of rules) cpSync(join(canaries, rule), mirror, { recursive: true })
    const { violations } = await judge(mirror)
    const silent = config.forbidden.filter(({ name }) => {
      const files = rules.includes(name) ? globSync("packages/**/*.{ts,tsx}", { cwd: join(canaries, name) }) : []
      return !violations.some(({ from, rule }) => rule.name === name && files.includes(from))
    })
    console.log(`${config.forbidden.length - silent.length} of ${config.forbidden.length} rules reported their canary`)
    const permitted = globSync("packages/**/*.{ts,tsx}", { cwd: join(canaries, "permitted") })
    return [
      ...silent.map(({ name }) => `${name} did not report its canary in scripts/boundaries/canaries/${name}`),
      ...violations.filter(({ from }) => permitted.includes(from)).map(({ from, rule }) => `${rule.name} forbids ${from}, which is permitted`)
    ]
  } finally {
    rmSync(mirror, { recursive: true, force: true })
  }
}

function linkInstalledPackages(mirror) {
  const link = (from, to) => symlinkSync(from, to, "junction")
  mkdirSync(join(mirror, "node_modules/@waybill"), { recursive: true })
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name !== "@waybill" && name !== "waybill") link(join(root, "node_modules", name), join(mirror, "node_modules", name))
  }
  for (const name of readdirSync(join(root, "packages"))) {
    link(join(mirror, "packages", name), join(mirror, "node_modules", name === "server" ? "waybill" : `@waybill/${name}`))
  }
}

async function judge(baseDir) {
  const { forbidden, options } = config
  const files = globSync(sources, { cwd: baseDir })
  const { output } = await cruise(files, { ...options, baseDir, validate: true, ruleSet: { forbidden } })
  const read = output.modules.filter(({ source }) => /^packages\/([^/]+\/src|server\/dashboard)\//.test(source))
  return { modules: new Map(read.map((module) => [module.source, module])), violations: output.summary.violations }
}
