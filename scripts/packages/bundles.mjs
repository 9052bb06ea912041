// Bundles a package: whether it runs in a browser, its size, and how much code one imported name brings along.
import { build } from "esbuild"

const options = ({ dir, platform = "browser", outside = [] }) => ({
  absWorkingDir: dir,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  platform,
  external: outside.flatMap((name) => [name, `${name}/*`]),
  metafile: true,
  write: false,
  logLevel: "silent"
})

/** @returns {Promise<{ size: number, names: string[], text: string }>} of a minified bundle of `code`, without the `outside` packages */
export async function bundle(code, where) {
  const { metafile, outputFiles: [file] } = await build({ ...options(where), stdin: { contents: code, resolveDir: where.dir } })
  return { size: file.contents.length, names: Object.values(metafile.outputs)[0].exports, text: file.text }
}

/** The share of a package that importing one name brings along: the median over some of its names. */
export async function medianShare(specifier, where) {
  const whole = await bundle(`export * from "${specifier}"`, where)
  const step = Math.ceil(whole.names.length / 24)
  const some = whole.names.filter((_, n) => n % step === 0)
  const sizes = await sizesOf(some.map((name) => `export { ${name} } from "${specifier}"`), where)
  const median = sizes.toSorted((a, b) => a - b)[sizes.length >> 1]
  return { whole: whole.size, median, share: median / whole.size }
}

/** Sizes of bundles of their own, made in one build, which reads the package once. */
async function sizesOf(codes, where) {
  const entry = {
    name: "entry",
    setup: ({ onLoad, onResolve }) => {
      onResolve({ filter: /^entry:\d+$/ }, ({ path }) => ({ path, namespace: "entry" }))
      onLoad({ filter: /.*/, namespace: "entry" }, ({ path }) => ({ contents: codes[Number(path.slice("entry:".length))], resolveDir: where.dir }))
    }
  }
  const entryPoints = codes.map((_, n) => ({ in: `entry:${n}`, out: String(n) }))
  const { outputFiles } = await build({ ...options(where), entryPoints, outdir: where.dir, plugins: [entry] })
  return outputFiles.map((file) => file.contents.length)
}
