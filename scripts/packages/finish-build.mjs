// Copies the declarations of `tsc -b` into a built package. Then redirects every import of effect in it to the copy that
// @waybill/core depends on, through modules that it writes into core's dist/effect (docs/decisions/0035). Runs in the folder of
// a package, after its build and core's.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join, relative } from "node:path"
import { pathToFileURL } from "node:url"

const owner = "@waybill/core/effect"
// an import or export in code; lines of comments start with a star
const imported = /^(?!\s*\*)(.*?\b(?:from|import)\s*\(?\s*["'])effect(\/[\w/-]+)?(?=["'])/gm
const redirected = /["']@waybill\/core\/effect(?:\/([\w/-]+))?["']/g

const codeIn = (dist) =>
  readdirSync(dist, { recursive: true }).filter((file) => /\.(js|d\.ts)$/.test(file)).map((file) => join(dist, file))

/** The declarations that `npm run check` has written as well, so that the sources are not checked twice. */
function copyDeclarations(compiled, dist) {
  for (const file of readdirSync(compiled, { recursive: true }).filter((name) => /\.d\.ts(\.map)?$/.test(name))) {
    const [from, to] = [join(compiled, file), join(dist, file)]
    const text = readFileSync(from, "utf8")
    mkdirSync(dirname(to), { recursive: true })
    writeFileSync(to, file.endsWith(".map") ? movedMap(JSON.parse(text), dirname(from), dirname(to)) : text)
  }
}

/** Sources are named from the folder of their map. */
const movedMap = (map, from, to) => JSON.stringify({ ...map, sources: map.sources.map((source) => relative(to, join(from, source))) })

function redirectEffect(dist) {
  for (const file of codeIn(dist)) {
    const code = readFileSync(file, "utf8")
    let before
    let after = code
    // a line may have several imports
    do {
      before = after
      after = before.replace(imported, (_, start, path = "") => `${start}${owner}${path}`)
    } while (after !== before)
    if (after !== code) writeFileSync(file, after)
  }
}

/** Declarations that no entry point reaches are useless, and may name packages that the build copied in. */
function withoutUnreachable(manifest, dist) {
  const reached = new Set()
  const visit = (file) => {
    if (reached.has(file)) return
    reached.add(file)
    const names = readFileSync(file, "utf8").matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)["'](\.[^"']+)["']/g)
    for (const [, name] of names) visit(join(dirname(file), name.replace(/\.(js|ts)$/, ".d.ts")))
  }
  for (const [entry, { types }] of Object.entries(manifest.exports)) {
    // core's modules of effect are written by the other packages
    if (types !== undefined && !entry.startsWith("./effect")) visit(join(dist, "..", types))
  }
  for (const file of codeIn(dist).filter((each) => each.endsWith(".d.ts") && !reached.has(each))) {
    rmSync(file)
    rmSync(`${file}.map`, { force: true })
  }
}

/** The sources are published beside the maps, so the maps need no copy of them. */
function withoutSources(dist) {
  for (const file of readdirSync(dist, { recursive: true }).filter((name) => name.endsWith(".js.map")).map((name) => join(dist, name))) {
    const { sourcesContent, ...map } = JSON.parse(readFileSync(file, "utf8"))
    // bundled packages bring no sources
    const kept = map.sources.map((source, n) => source.includes("node_modules") ? sourcesContent[n] : null)
    writeFileSync(file, JSON.stringify(kept.every((content) => content === null) ? map : { ...map, sourcesContent: kept }))
  }
}

/** Writes a module into core's `dist/effect` for each module of effect that the package in `dist` imports. */
function writeEntries(core, dist) {
  const paths = new Set(codeIn(dist).flatMap((file) => [...readFileSync(file, "utf8").matchAll(redirected)].map(([, path]) => path)))
  for (const path of paths) {
    const file = join(core, "dist/effect", path ?? "index")
    mkdirSync(dirname(file), { recursive: true })
    const code = `export * from "${path === undefined ? "effect" : `effect/${path}`}"\n`
    for (const extension of [".js", ".d.ts"]) writeFileSync(file + extension, code)
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  copyDeclarations(".tsc/src", "dist")
  if (basename(process.cwd()) !== "core") {
    redirectEffect("dist")
    writeEntries("../core", "dist")
  }
  withoutUnreachable(JSON.parse(readFileSync("package.json", "utf8")), "dist")
  withoutSources("dist")
}
