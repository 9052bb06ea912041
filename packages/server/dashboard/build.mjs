// The pages: packages/server/dashboard into packages/server/dist/dashboard/page, and its folder portal, for customers,
// into packages/server/dist/portal/page. File names contain a hash, so that browsers may cache them forever; index.html
// is written last, so that it never names a missing file.
import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { argv, stdout } from "node:process"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { build } from "esbuild"

const here = dirname(fileURLToPath(import.meta.url))
const require = createRequire(import.meta.url)

const dashboard = {
  from: here,
  title: "Waybill",
  withoutScript: "Everything it shows can also be asked for with <code>waybill deliveries</code> or under <code>/operator/v1</code>."
}
const portal = { from: join(here, "portal"), title: "Webhooks", withoutScript: "" }

/**
 * Into where the program looks for them, whether it runs from src or from dist.
 * @returns {Promise<Array<{ name: string, bytes: number, gzip: number }>>} the files of both pages, with their sizes
 */
export async function buildPages() {
  return [...await buildPage(join(here, "../dist/dashboard/page")), ...await buildPage(join(here, "../dist/portal/page"), portal)]
}

/** @returns {Promise<Array<{ name: string, bytes: number, gzip: number }>>} the files, with their sizes */
export async function buildPage(directory, { from, title, withoutScript } = dashboard) {
  const { metafile, outputFiles } = await build({
    entryPoints: [join(from, "app.tsx"), join(from, "app.css")],
    outdir: directory,
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: ["chrome111", "firefox115", "safari16.4"],
    conditions: ["@waybill/source"],
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "inline",
    write: false,
    metafile: true,
    logLevel: "warning"
  })
  const inside = new Set(Object.keys(metafile.inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]).filter((name) => name !== undefined))
  if (inside.size !== bundled.length || !bundled.every((name) => inside.has(name))) throw new Error(`The page contains ${[...inside].join(", ")}: set bundled in dashboard/build.mjs to these.`)
  let html = readFileSync(join(here, "index.html"), "utf8").replace("{title}", title).replace(" {withoutScript}", withoutScript && ` ${withoutScript}`)
  const files = []
  for (const { contents, path } of outputFiles) {
    const [, base, type] = /([^/\\]+)\.(js|css)$/.exec(path)
    const name = `${base}-${createHash("sha256").update(contents).digest("hex").slice(0, 12)}.${type}`
    html = html.replace(`"${base}.${type}"`, `"${name}"`)
    files.push({ name, contents })
  }
  files.push({ name: "licenses.txt", contents: licenses() })
  files.push({ name: "index.html", contents: html })

  mkdirSync(directory, { recursive: true })
  for (const { contents, name } of files) {
    // other processes may build or read at the same time
    const unfinished = join(directory, `.${name}.${process.pid}`)
    writeFileSync(unfinished, contents)
    renameSync(unfinished, join(directory, name))
  }
  const current = new Set(files.map(({ name }) => name))
  for (const name of readdirSync(directory)) if (!name.startsWith(".") && !current.has(name)) rmSync(join(directory, name), { force: true })
  return files.map(({ contents, name }) => ({ name, bytes: Buffer.byteLength(contents), gzip: gzipSync(contents).length }))
}

/** Packages of others whose code is inside each page. */
export const bundled = ["preact", "@picocss/pico"]

/** What is bundled was given under these. */
function licenses() {
  return bundled.map((name) => {
    const directory = dirname(require.resolve(`${name}/package.json`))
    const file = readdirSync(directory).find((name) => /^licen[cs]e/i.test(name))
    return `${name}\n\n${readFileSync(join(directory, file), "utf8")}`
  }).join("\n\n")
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`
  for (const { bytes, gzip, name } of await buildPages()) stdout.write(`${name}: ${kilobytes(bytes)}, gzip ${kilobytes(gzip)}\n`)
}
