// npm run packages: packs every package, checks the tarballs, installs them into a separate project, and uses them there
// like a user: TypeScript including the packages' declarations, CommonJS, and a bundler. Then it installs them into the hosts
// of packages/hosts.mjs; `npm run packages -- --short` takes only those that the build of every change needs.
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { pathToFileURL } from "node:url"
import { bundledIn } from "./packages/bundled.mjs"
import { bundle, medianShare } from "./packages/bundles.mjs"
import { copy, everything, hosts, installations, installedSize, problemsIn } from "./packages/hosts.mjs"
import { imageSbom } from "./packages/image-sbom.mjs"
import { openApiProblems } from "./packages/openapi.mjs"
import { phantomsOf } from "./packages/phantoms.mjs"
import { licenceList, licencesFile, lockedPackages, sbomFile, sbomOf, sbomProblems } from "./packages/sbom.mjs"
import { dashboardOf } from "./packages/serves.mjs"
import { kilobytes, problemsOf, sizeOf } from "./packages/tarballs.mjs"
import { readPages } from "./docs/pages.mjs"
import { temporaryPostgres } from "./postgres.mjs"
import { root } from "./workspace.mjs"

const packages = readdirSync(join(root, "packages")).map((name) => {
  const dir = join(root, "packages", name)
  return { dir, manifest: JSON.parse(readFileSync(join(dir, "package.json"), "utf8")) }
})
const elsewhere = mkdtempSync(join(tmpdir(), "waybill-packages-"))
/** By the folder's name. */
const tarballs = {}
const installed = installations(tarballs)
// effect's declarations use DOM types
const server = { types: ["node"], lib: ["ES2023", "DOM", "DOM.Iterable"] }
// maximum share of the client's code that one imported name may bring along; the other packages run on servers only
const mostShare = 0.1
// MiB that `npm i @waybill/http @waybill/postgres` takes on the disk: 61 are effect, 14 ours, with declarations, maps and sources
const mostInstalled = 82
let failures = 0

try {
  console.log("SBOMs:")
  findsLicences()
  for (const { dir, manifest } of packages) writeSbom(dir, manifest)
  for (const problem of sbomProblems(imageSbom())) fail("the image's SBOM", problem)

  console.log("tarballs:")
  for (const { dir, manifest } of packages) {
    const [packed] = Object.values(JSON.parse(run("npm", ["pack", "--json", "--pack-destination", elsewhere], dir)))
    const tarball = tarballs[basename(dir)] = join(elsewhere, packed.filename)
    for (const problem of await problemsOf({ manifest, tarball })) fail(manifest.name, problem)
    console.log(`  ${manifest.name}: ${sizeOf(packed)}`)
  }

  await findsPhantoms()
  for (const { dir, manifest } of packages) {
    for (const name of await phantomsOf(join(dir, "dist"), manifest)) fail(manifest.name, `imports ${name} and does not declare it`)
  }

  await copy(await installed.of(everything), elsewhere)
  listsWhatIsInstalled()

  const optional = (manifest) => Object.keys(manifest.peerDependenciesMeta ?? {})
  const entries = packages.flatMap(({ manifest }) =>
    Object.keys(manifest.exports).filter((entry) => !/\.json$|\*/.test(entry)).map((entry) => ({
      specifier: manifest.name + entry.slice(1),
      manifest,
      needsPeers: entry !== "." && optional(manifest).length > 0
    })))
  const withoutPeers = entries.filter(({ needsPeers }) => !needsPeers)
  check("entry points", withoutPeers, server)
  requireFromCommonJs(withoutPeers)
  check("the client in a browser", entries.filter(({ manifest }) => manifest.name === "@waybill/client"), { types: [], lib: ["ES2023", "DOM"] })
  await bundles()

  for (const { manifest } of packages.filter(({ manifest }) => manifest.bin)) {
    for (const [name, file] of Object.entries(manifest.bin)) {
      attempt(`${name} --help`, () => {
        const help = run(process.execPath, [join(elsewhere, "node_modules", manifest.name, file), "--help"], elsewhere)
        if (!help.includes(name)) fail(name, `--help does not name ${name}:\n${help}`)
      })
      checksImplementations(name, join(elsewhere, "node_modules", manifest.name, file))
      await serves(name, join(elsewhere, "node_modules", manifest.name, file))
    }
  }

  const withPeers = entries.filter(({ needsPeers }) => needsPeers)
  if (withPeers.length > 0) {
    const peers = new Map(withPeers.flatMap(({ manifest }) => optional(manifest).flatMap((peer) => peer in manifest.devDependencies ? [[peer, manifest.devDependencies[peer]]] : [])))
    install([...peers].map(([peer, version]) => `${peer}@${version}`))
    check("entry points that need optional peers", withPeers, server)
  }
  const isShort = process.argv.includes("--short")
  await Promise.all([inHosts(isShort), openApi(isShort)])
} finally {
  await installed.remove()
  rmSync(elsewhere, { recursive: true, force: true })
}
process.exit(failures > 0 ? 1 : 0)

/** Files that are published in the tarball. */
function writeSbom(dir, manifest) {
  const sbom = sbomOf(lockedPackages(), `packages/${basename(dir)}`, bundledIn[manifest.name])
  for (const problem of sbomProblems(sbom)) fail(manifest.name, problem)
  writeFileSync(join(dir, "dist", sbomFile), `${JSON.stringify(sbom, null, 2)}\n`)
  writeFileSync(join(dir, "dist", licencesFile), licenceList(sbom, bundledIn[manifest.name]))
  console.log(`  ${manifest.name}: ${sbom.components.length} components`)
}

/** Compares the packages that npm has just installed, with their versions, with the SBOMs in the tarballs. */
function listsWhatIsInstalled() {
  const sboms = packages.map(({ manifest }) => JSON.parse(readFileSync(join(elsewhere, "node_modules", manifest.name, "dist", sbomFile), "utf8")))
  const listed = new Set(sboms.flatMap(({ components, metadata }) => [metadata.component, ...components].map(({ name }) => name)))
  const { packages: installed } = JSON.parse(readFileSync(join(elsewhere, "node_modules/.package-lock.json"), "utf8"))
  const names = new Set(Object.keys(installed).map((path) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)))
  for (const name of names) if (!listed.has(name)) fail("SBOM", `${name} is installed and not in any SBOM`)
}

/** Proves that the check detects a forbidden licence, a missing licence and a missing component. */
function findsLicences() {
  const entry = (name, license) => ({ version: "1.0.0", ...license === undefined ? {} : { license }, name })
  const locked = {
    "packages/canary": { ...entry("canary", "MIT"), dependencies: { a: "1", b: "1", c: "1" } },
    "node_modules/a": entry("a", "GPL-3.0-only"),
    "node_modules/b": entry("b"),
    "node_modules/c": entry("c", "(GPL-3.0-only OR MIT)")
  }
  const sbom = sbomOf(locked, "packages/canary")
  const found = sbomProblems({ ...sbom, dependencies: [...sbom.dependencies, { ref: "pkg:npm/gone@1.0.0", dependsOn: [] }] })
  if (!/^pkg:npm\/gone.*\na 1\.0\.0 is under GPL.*\nb 1\.0\.0 has no licence$/.test(found.join("\n"))) fail("canary", `only these faults of the SBOM were found: ${found.join("; ")}`)
}

function check(what, entries, compilerOptions) {
  const uses = entries.map(({ specifier }, n) => `import * as used${n} from "${specifier}"\nconsole.log("  ${specifier}", Object.keys(used${n}).length)\n`)
  writeFileSync(join(elsewhere, "use.mts"), uses.join(""))
  console.log(`${what}, installed elsewhere:`)
  types("use.mts", compilerOptions)
  attempt("import", () => process.stdout.write(run(process.execPath, ["use.mts"], elsewhere)))
}

/** The rules are in a package of their own. Nothing answers at the address, which the command says after it has run a rule. */
function checksImplementations(name, program) {
  const { status, stderr } = spawnSync(process.execPath, [program, "check", "--api", "http://127.0.0.1:1", "--only", "d-events-unauthenticated"], { cwd: elsewhere, encoding: "utf8", timeout: 60_000 })
  if (status !== 3 || !stderr.includes("No response from http://127.0.0.1:1")) fail(`${name} check --api`, `ended with ${status}:\n${stderr}`)
  else console.log(`${name} check --api runs its rules`)
}

async function serves(name, program) {
  try {
    const files = await dashboardOf(program, elsewhere)
    if (!["js", "css"].every((type) => files.some((file) => file.endsWith(`.${type}`)))) fail(name, `its dashboard serves only these files: ${files.join(", ") || "none"}`)
    console.log(`${name} serve, with its dashboard: ${files.join(", ")}`)
  } catch (error) {
    fail(`${name} serve`, error.message)
  }
}

/** The packages are ES modules only; Node can `require` them without a flag. */
function requireFromCommonJs(entries) {
  writeFileSync(join(elsewhere, "use.cts"), entries.map(({ specifier }, n) => `import used${n} = require("${specifier}")\nconsole.log(Object.keys(used${n}).length)\n`).join(""))
  types("use.cts", server)
  const uses = entries.map(({ specifier }) => `if (Object.keys(require("${specifier}")).length === 0) throw new Error("${specifier} is empty")\n`)
  writeFileSync(join(elsewhere, "use.cjs"), uses.join(""))
  const { status, stderr } = spawnSync(process.execPath, ["use.cjs"], { cwd: elsewhere, encoding: "utf8", timeout: 60_000 })
  if (status !== 0 || stderr !== "") return fail("require", stderr || `ended with ${status}`)
  console.log(`required from CommonJS: ${entries.length} entry points, without a warning`)
}

function types(file, compilerOptions) {
  writeFileSync(join(elsewhere, "tsconfig.json"), JSON.stringify({
    compilerOptions: { ...compilerOptions, module: "NodeNext", target: "ES2023", strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true },
    files: [file]
  }))
  attempt(`types of ${file}`, () => run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", elsewhere], elsewhere))
}

async function openApi(isShort) {
  for (const problem of await openApiProblems(elsewhere, isShort)) fail("OpenAPI", problem)
}

/** Two at a time: npm mostly waits. */
async function inHosts(isShort) {
  const size = await installedSize(installed)
  console.log(`@waybill/http and @waybill/postgres take ${size.toFixed(1)} MiB installed`)
  if (size > mostInstalled) fail("size", `${mostInstalled} MiB are allowed`)

  const program = readPages().find(({ path }) => path === "docs/start-embedding.md").blocks
    .filter(({ language }) => language === "ts").map(({ code }) => code).join("\n")
  const postgres = temporaryPostgres()
  const waiting = hosts.filter(({ everyTime }) => !isShort || everyTime)
  const work = async () => {
    for (let host = waiting.shift(); host !== undefined; host = waiting.shift()) {
      const began = performance.now()
      const problems = await problemsIn(host, { isShort, tarballs, installed, program, database: postgres.fresh })
      for (const problem of problems) fail("host", problem)
      console.log(`  ${host.name}: ${problems.length === 0 ? "ok" : "failed"} after ${((performance.now() - began) / 1000).toFixed(0)} s`)
    }
  }
  console.log("hosts that install it before or after their own packages:")
  try {
    await Promise.all([work(), work()])
  } finally {
    await postgres.stop()
  }
}

async function bundles() {
  console.log("bundled and minified, without dependencies:")
  for (const { manifest } of packages.filter(({ manifest }) => manifest.bin === undefined)) {
    const platform = manifest.name === "@waybill/client" ? "browser" : "node"
    const outside = [...Object.keys(manifest.dependencies ?? {}), ...Object.keys(manifest.peerDependencies ?? {})]
    const { median, share, whole } = await medianShare(manifest.name, { dir: elsewhere, platform, outside })
    console.log(`  ${manifest.name}: ${kilobytes(whole)}, for one name ${kilobytes(median)} (${(share * 100).toFixed(1)} %)`)
    if (platform === "browser" && share > mostShare) fail(manifest.name, `does not tree-shake: importing one name bundles ${(share * 100).toFixed(1)} %, allowed are ${mostShare * 100} %`)
  }

  const names = "signDelivery, verifyDelivery"
  const { size, text } = await bundle(`export { ${names} } from "@waybill/client"`, { dir: elsewhere })
  const file = join(elsewhere, "bundled.mjs")
  writeFileSync(file, text)
  const { signDelivery, verifyDelivery } = await import(pathToFileURL(file).href)
  const secrets = `whsec_${Buffer.alloc(32, 7).toString("base64")}`
  const body = new TextEncoder().encode("[]")
  const { deliveryId } = await verifyDelivery({ secrets, body, headers: (await signDelivery({ secrets, body, deliveryId: "d1" })).headers })
  if (deliveryId !== "d1") fail("@waybill/client", "bundled for a browser, it does not verify its own signature")
  console.log(`  { ${names} } of @waybill/client for a browser: ${kilobytes(size)}`)
}

/** Proves with a package without dependencies that phantom dependencies are found, in programs and in declarations. */
async function findsPhantoms() {
  const dist = join(elsewhere, "canary")
  mkdirSync(dist)
  writeFileSync(join(dist, "index.js"), 'import "node:fs"\nimport { a } from "@scope/one/deep"\nexport const b = [a, () => import("two")]\nexport * from "declared"\n')
  writeFileSync(join(dist, "index.d.ts"), 'import { type A } from "three"\nexport declare const a: import("four").A\nexport type { B } from "./five.js"\n')
  const found = await phantomsOf(dist, { name: "canary", dependencies: { declared: "1.0.0" } })
  if (found.join() !== "@scope/one,four,three,two") fail("canary", `only these phantom dependencies were found: ${found.join()}`)
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
