// Checks a package as it would be published: publint, are-the-types-wrong, metadata and size, all read from the tarball.
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { readFileSync } from "node:fs"
import { publint } from "publint"
import { formatMessage } from "publint/utils"

// like attw's profile "esm-only": CommonJS users use require(esm), which attw's node16-cjs does not support yet
const notPromised = new Set(["node10", "node16-cjs"])

/** @returns problems, one line each */
export async function problemsOf({ manifest, tarball }) {
  const bytes = readFileSync(tarball)
  const exact = () => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
  const linted = await publint({ pack: { tarball: exact() }, strict: true })
  const types = await checkPackage(createPackageFromTarballData(new Uint8Array(bytes)))
  return [
    ...linted.messages.map((message) => `publint: ${formatMessage(message, linted.pkg ?? manifest)}`),
    ...types.types === false ? ["attw: it has no types"] : types.problems
      .filter(({ resolutionKind }) => !notPromised.has(resolutionKind))
      .map(({ kind, ...where }) => `attw: ${kind} ${JSON.stringify(where)}`),
    ...metadata(manifest)
  ]
}

export function sizeOf({ size, unpackedSize, entryCount }) {
  return `${kilobytes(size)} packed, ${kilobytes(unpackedSize)} unpacked, ${entryCount} files`
}

export function kilobytes(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`
}

function* metadata(manifest) {
  for (const field of ["description", "keywords", "license", "engines", "files"]) {
    if (manifest[field] === undefined) yield `package.json has no ${field}`
  }
  if (manifest.sideEffects === undefined) yield "package.json does not say whether it has sideEffects"
  if (manifest.publishConfig?.access !== "public") yield "publishConfig.access is not public"
  if (manifest.publishConfig?.provenance !== true) yield "publishConfig.provenance is not on"
  for (const [name, range] of Object.entries(manifest.dependencies ?? {})) {
    // a host's own effect of a later patch is then the same copy (docs/decisions/0035)
    const isExact = /^\d+\.\d+\.\d+(-[\w.-]+)?$/.test(name === "effect" ? range.replace("~", "") : range)
    if (!isExact) yield `${name} is not pinned: ${range}`
  }
}
