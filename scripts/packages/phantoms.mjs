// Phantom dependencies: a package must declare everything that its programs and declarations import. In the workspace's
// shared node_modules undeclared imports work as well, so tests do not find them.
import { build } from "esbuild"
import { readdirSync, readFileSync } from "node:fs"
import { builtinModules } from "node:module"
import { join } from "node:path"

const own = new Set(builtinModules)
const fromDeclaration = /(?:\bfrom\s*|\bimport\s*\(\s*|^\s*import\s+|\brequire\s*\(\s*)["']([^"'\n]+)["']|<reference types="([^"]+)"/gm

/** @returns {Promise<string[]>} packages that files in `dist` import but the manifest does not declare */
export async function phantomsOf(dist, manifest) {
  const declared = new Set([manifest.name, ...Object.keys(manifest.dependencies ?? {}), ...Object.keys(manifest.peerDependencies ?? {})])
  const names = new Set((await importsOf(dist)).map(packageOf))
  return [...names].filter((name) => !declared.has(name) && !declared.has(typesOf(name))).toSorted()
}

async function importsOf(dist) {
  const files = readdirSync(dist, { recursive: true }).map((file) => join(dist, file))
  const { metafile } = await build({
    entryPoints: files.filter((file) => file.endsWith(".js")),
    bundle: true,
    // each module once, and not again for every one that imports it
    splitting: true,
    format: "esm",
    platform: "node",
    packages: "external",
    treeShaking: false,
    metafile: true,
    write: false,
    outdir: dist,
    logLevel: "silent"
  })
  const programs = Object.values(metafile.inputs).flatMap(({ imports }) => imports.filter(({ external }) => external).map(({ path }) => path))
  const declarations = files.filter((file) => file.endsWith(".d.ts"))
    .flatMap((file) => [...readFileSync(file, "utf8").matchAll(fromDeclaration)].map(([, name, reference]) => name ?? reference))
  return [...programs, ...declarations].filter((name) => !name.startsWith(".") && !name.startsWith("node:") && name !== "node" && !own.has(name))
}

function packageOf(specifier) {
  return specifier.split("/").slice(0, specifier.startsWith("@") ? 2 : 1).join("/")
}

function typesOf(name) {
  return `@types/${name.replace(/^@(.+)\/(.+)$/, "$1__$2")}`
}
