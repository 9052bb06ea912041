// Writes an SBOM (CycloneDX 1.6, JSON) and a list of licences for a published package, from package-lock.json. `npm sbom` does not work
// here: it describes the workspace, includes development dependencies, and omits packages that the workspace itself has as one.
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../workspace.mjs"

/** Licences that allow redistribution within other software if notices are kept. */
const allowed = new Set(["MIT", "MIT-0", "ISC", "0BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "BlueOak-1.0.0", "PostgreSQL", "Unlicense", "CC0-1.0"])

/** Licences of packages whose manifest has the old list `licenses`, which the lock file leaves out. */
const declaredInList = { ssh2: "MIT", "cpu-features": "MIT", buildcheck: "MIT" }

export const sbomFile = "sbom.cdx.json"
export const licencesFile = "licenses.txt"

/** The packages of the lock file, by install path. */
export const lockedPackages = () => JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")).packages

/**
 * @param from the path of the package in the lock file: `packages/core`
 * @param bundled names of packages whose code is bundled into its files
 * @param alongside names of optional peers that are installed with it
 */
export function sbomOf(locked, from, bundled = [], alongside = []) {
  const own = locked[from]
  const components = new Map()
  const dependencies = []
  const visit = (at, entry, names) => {
    const dependsOn = names.flatMap(({ isBundled = false, name, scope }) => {
      const found = whereIs(locked, at, name)
      // for another platform, which npm does not list
      if (found === undefined && scope === "optional") return []
      if (found === undefined) throw new Error(`${name}, which ${at} needs, is not in package-lock.json.`)
      const needed = locked[found]
      const ref = purlOf(name, needed.version)
      if (!components.has(ref)) {
        components.set(ref, { ref, name, entry: needed, scope })
        // the bundler left out what it does not use of its dependencies
        visit(found, { ref }, isBundled ? [] : needsOf(needed, scope))
      } else if (scope === "required") components.get(ref).scope = scope
      return [ref]
    })
    dependencies.push({ ref: entry.ref, dependsOn: [...new Set(dependsOn)].sort() })
  }
  const ref = purlOf(own.name, own.version)
  visit(from, { ref }, [...needsOf(own, "required"), ...bundled.map((name) => ({ name, scope: "required", isBundled: true })), ...alongside.map((name) => ({ name, scope: "optional" }))])
  const sorted = [...components.values()].sort((a, b) => a.ref < b.ref ? -1 : 1).map(componentOf)
  const sbom = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      lifecycles: [{ phase: "build" }],
      component: { type: "library", "bom-ref": ref, name: own.name, version: own.version, purl: ref, licenses: licensesOf(own.license) }
    },
    components: sorted,
    dependencies: dependencies.sort((a, b) => a.ref < b.ref ? -1 : 1)
  }
  return withSerialNumber(sbom)
}

/** The same contents give the same serial number. */
export function withSerialNumber({ serialNumber: _, ...sbom }) {
  return { ...sbom, serialNumber: `urn:uuid:${uuidOf(JSON.stringify(sbom))}` }
}

/** Name, version and licence of each as readable text, and the notices that the licences of bundled packages ask for. */
export function licenceList({ components, metadata }, bundled = []) {
  const lines = components.map(({ licenses, name, version }) => `${name} ${version}: ${textOf(licenses)}`)
  return `${metadata.component.name} ${metadata.component.version} is under ${textOf(metadata.component.licenses)}. What it brings along:\n\n${lines.join("\n")}\n${bundled.map(noticeOf).join("")}`
}

function noticeOf(name) {
  const directory = join(root, "node_modules", name)
  const file = readdirSync(directory).find((each) => /^licen[cs]e/i.test(each))
  return `\nIts files contain code of ${name}, under this licence:\n\n${readFileSync(join(directory, file), "utf8").trim()}\n`
}

/** @returns problems, one line each */
export function sbomProblems(sbom) {
  const refs = [sbom.metadata?.component, ...sbom.components ?? []].map((each) => each?.["bom-ref"])
  const known = new Set(refs)
  const problems = []
  if (sbom.bomFormat !== "CycloneDX" || sbom.specVersion !== "1.6" || !/^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(sbom.serialNumber)) problems.push("the SBOM is no CycloneDX 1.6")
  if (known.size !== refs.length) problems.push("two components have the same bom-ref")
  for (const { dependsOn, ref } of sbom.dependencies) for (const each of [ref, ...dependsOn]) if (!known.has(each)) problems.push(`${each} is no component`)
  for (const { licenses, name, purl, type, version } of sbom.components) {
    if (!name || !version || !type || !/^pkg:(npm|generic)\//.test(purl)) problems.push(`${name ?? "a component"} has no name, version, type or purl`)
    if (licenses === undefined) problems.push(`${name} ${version} has no licence`)
    else if (!mayShip(textOf(licenses))) problems.push(`${name} ${version} is under ${textOf(licenses)}, which is not among the licences that may be shipped`)
  }
  return problems
}

/** Evaluates a licence expression: every part of AND has to be allowed, one part of OR. */
function mayShip(expression) {
  const bare = expression.replaceAll(/[()]/g, "")
  return bare.split(" AND ").every((part) => part.split(" OR ").some((id) => allowed.has(id.trim())))
}

/** Resolves like Node: in the package, then in each parent directory. */
function whereIs(locked, from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(at.lastIndexOf("/"), 0))) {
    const place = at === "" ? `node_modules/${name}` : `${at}/node_modules/${name}`
    const found = at.endsWith("node_modules") ? undefined : locked[place]
    if (found !== undefined) return found.link ? found.resolved : place
    if (at === "") return undefined
  }
}

/** Optional dependencies are npm's optionalDependencies and optional peers; the latter are not installed automatically. */
function needsOf({ dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} }, scope) {
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true)
  return [
    ...Object.keys({ ...dependencies, ...Object.fromEntries(peers.map((name) => [name, true])) }).map((name) => ({ name, scope })),
    ...Object.keys(optionalDependencies).map((name) => ({ name, scope: "optional" }))
  ]
}

function componentOf({ entry, name, ref, scope }) {
  const [algorithm, digest] = (entry.integrity ?? "").split("-")
  return {
    type: "library",
    "bom-ref": ref,
    name,
    version: entry.version,
    scope,
    ...algorithm === "sha512" ? { hashes: [{ alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") }] } : {},
    ...licenseOf(name, entry) === undefined ? {} : { licenses: licensesOf(licenseOf(name, entry)) },
    purl: ref
  }
}

const licenseOf = (name, { license }) => license ?? declaredInList[name]

function licensesOf(license) {
  return /^[\w.-]+$/.test(license) ? [{ license: { id: license } }] : [{ expression: license }]
}

function textOf(licenses) {
  return licenses.map((each) => each.expression ?? each.license.id).join(" AND ")
}

function purlOf(name, version) {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`
}

function uuidOf(text) {
  const hex = createHash("sha256").update(text).digest("hex")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
