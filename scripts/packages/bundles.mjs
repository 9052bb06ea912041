// Bundles a package: whether it runs in a browser, its size, and how much code one imported name brings along.
import { build } from "esbuild"

/** @returns {Promise<{ size: number, names: string[], text: string }>} of a minified bundle of `code`, without the `outside` packages */
export async function bundle(code, { dir, platform = "browser", outside = [] }) {
  const { metafile, outputFiles: [file] } = await build({
    stdin: { contents: code, resolveDir: dir },
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
  return { size: file.contents.length, names: Object.values(metafile.outputs)[0].exports, text: file.text }
}

/** The share of a package that importing one name brings along: the median over some of its names. */
export async function medianShare(specifier, options) {
  const whole = await bundle(`export * from "${specifier}"`, options)
  const step = Math.ceil(whole.names.length / 24)
  const some = whole.names.filter((_, n) => n % step === 0)
  const sizes = await Promise.all(some.map(async (name) => (await bundle(`export { ${name} } from "${specifier}"`, options)).size))
  const median = sizes.toSorted((a, b) => a - b)[sizes.length >> 1]
  return { whole: whole.size, median, share: median / whole.size }
}
