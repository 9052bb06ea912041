// npm run packages: packs every package, installs the tarballs into a project elsewhere, and uses them there as a stranger
// would: every entry point is imported and type-checked, with the declarations of the packages checked as well.
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { root } from "./workspace.mjs"

const packages = readdirSync(join(root, "packages")).map((name) => {
  const dir = join(root, "packages", name)
  return { dir, manifest: JSON.parse(readFileSync(join(dir, "package.json"), "utf8")) }
})
const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const elsewhere = mkdtempSync(join(tmpdir(), "waybill-packages-"))
// effect's own declarations name types of the DOM
const server = { types: ["node"], lib: ["ES2023", "DOM", "DOM.Iterable"] }
let failures = 0

try {
  for (const { dir, manifest } of packages) {
    const { messages } = await publint({ pkgDir: dir, strict: true })
    for (const message of messages) fail(manifest.name, formatMessage(message, manifest))
  }

  const tarballs = packages.map(({ dir }) => {
    const [packed] = Object.values(JSON.parse(run("npm", ["pack", "--json", "--pack-destination", elsewhere], dir)))
    return `./${packed.filename}`
  })
  writeFileSync(join(elsewhere, "package.json"), JSON.stringify({ name: "elsewhere", private: true, type: "module" }))
  install([...tarballs, `@types/node@${devDependencies["@types/node"]}`])

  const optional = (manifest) => Object.keys(manifest.peerDependenciesMeta ?? {})
  const entries = packages.flatMap(({ manifest }) =>
    Object.keys(manifest.exports).filter((entry) => !entry.endsWith(".json")).map((entry) => ({
      specifier: manifest.name + entry.slice(1),
      manifest,
      needsPeers: entry !== "." && optional(manifest).length > 0
    })))
  check("entry points", entries.filter(({ needsPeers }) => !needsPeers), server)
  check("the client in a browser", entries.filter(({ manifest }) => manifest.name === "@waybill/client"), { types: [], lib: ["ES2023", "DOM"] })

  for (const { manifest } of packages.filter(({ manifest }) => manifest.bin)) {
    for (const [name, file] of Object.entries(manifest.bin)) {
      attempt(`${name} --help`, () => {
        const help = run(process.execPath, [join(elsewhere, "node_modules", manifest.name, file), "--help"], elsewhere)
        if (!help.includes(name)) fail(name, `--help does not say ${name}:\n${help}`)
      })
    }
  }

  const withPeers = entries.filter(({ needsPeers }) => needsPeers)
  if (withPeers.length > 0) {
    const peers = new Set(withPeers.flatMap(({ manifest }) => optional(manifest).map((peer) => `${peer}@${manifest.devDependencies[peer]}`)))
    install([...peers])
    check("entry points that need optional peers", withPeers, server)
  }
} finally {
  rmSync(elsewhere, { recursive: true, force: true })
}
process.exit(failures > 0 ? 1 : 0)

function check(what, entries, compilerOptions) {
  const uses = entries.map(({ specifier }, n) => `import * as used${n} from "${specifier}"\nconsole.log("  ${specifier}", Object.keys(used${n}).length)\n`)
  writeFileSync(join(elsewhere, "use.mts"), uses.join(""))
  writeFileSync(join(elsewhere, "tsconfig.json"), JSON.stringify({
    compilerOptions: { ...compilerOptions, module: "NodeNext", target: "ES2023", strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true },
    files: ["use.mts"]
  }))
  console.log(`${what}, installed elsewhere:`)
  attempt("types", () => run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", elsewhere], elsewhere))
  attempt("import", () => process.stdout.write(run(process.execPath, ["use.mts"], elsewhere)))
}

function install(what) {
  run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline", ...what], elsewhere)
}

function attempt(what, action) {
  try {
    action()
  } catch (error) {
    fail(what, [error.stdout, error.stderr].join("\n").trim() || error.message)
  }
}

function fail(where, what) {
  failures += 1
  console.error(`${where}: ${what}`)
}

function run(file, args, cwd) {
  return execFileSync(file, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 180_000 })
}
