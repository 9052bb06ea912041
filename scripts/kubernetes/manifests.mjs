// Checks objects against the schemas of Kubernetes in two ways: validators find wrong values and missing fields, and the compiler
// finds fields that do not exist, which a cluster would ignore.
import { spawnSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { root } from "../workspace.mjs"

/** Shows that both ways find faults: these have to be found, in this order. */
const canaries = [
  { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "wrong-value" }, spec: { replicas: "two", selector: { matchLabels: {} }, template: {} } },
  { apiVersion: "v1", kind: "Service", metadata: { name: "unknown-field" }, spec: { ports: [{ port: 80, targetport: "http" }] } }
]

/** @returns {Promise<string[]>} */
export async function schemaFaults(folder, rendered) {
  const named = rendered.flatMap(({ name, objects }) => objects.map((object) => ({ name, object })))
  const all = [...named, ...canaries.map((object) => ({ name: "canary", object }))]
  const found = [...await validated(folder, all), ...compiled(folder, all)]
  const unnoticed = canaries.filter(({ metadata }) => !found.some((fault) => fault.startsWith("canary") && fault.includes(metadata.name)))
  return [...found.filter((fault) => !fault.startsWith("canary")), ...unnoticed.map(({ metadata }) => `no check reported the canary ${metadata.name}`)]
}

const moduleOf = ({ apiVersion, kind }) =>
  `${apiVersion.startsWith("monitoring.coreos.com") ? "@kubernetes-models/prometheus-operator" : "kubernetes-models"}/${apiVersion}/${kind}`

async function validated(folder, all) {
  const faults = []
  for (const { name, object } of all) {
    const { [object.kind]: Model } = await import(pathToFileURL(join(folder, "node_modules", `${moduleOf(object)}.js`)).href)
    try {
      new Model(object).validate()
    } catch (error) {
      faults.push(`${name}: ${object.kind} ${object.metadata.name}: ${error.message}`)
    }
  }
  return faults
}

function compiled(folder, all) {
  const lines = all.flatMap(({ name, object }) => [
    `import type { I${object.kind} as T${all.findIndex((each) => each.object === object)} } from "${moduleOf(object)}"`,
    `export const o${all.findIndex((each) => each.object === object)}: T${all.findIndex((each) => each.object === object)} = /* ${name}: ${object.kind} ${object.metadata.name} */ ${JSON.stringify(object)}`
  ])
  writeFileSync(join(folder, "objects.ts"), lines.join("\n"))
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({
    compilerOptions: { module: "nodenext", target: "es2023", strict: true, noEmit: true, skipLibCheck: true, types: [] },
    files: ["objects.ts"]
  }))
  const { stdout } = spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder, "--pretty", "false"], { cwd: folder, encoding: "utf8", timeout: 300_000 })
  return Array.from(stdout.matchAll(/^objects\.ts\((\d+),\d+\): (error .+)$/gm), ([, line, error]) => {
    const [, place] = /\/\* (.+?) \*\//.exec(lines[Number(line) - 1]) ?? [undefined, lines[Number(line) - 1]]
    return `${place}: ${error}`
  })
}
