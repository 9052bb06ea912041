// Renders the Kubernetes manifests with kubectl's own kustomize, where kubectl is installed, and checks that the objects they refer to exist.
import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseAllDocuments } from "yaml"
import { root } from "../workspace.mjs"

const directory = "docs/deploy/kubernetes"

/** The example uses all others except the default, in which each process has both roles. */
const rendered = ["base", "example"]

/** @returns {{ rendered: number, faults: string[], skipped?: string }} */
export function checkKubernetes() {
  if (spawnSync("kubectl", ["version", "--client"]).error?.code === "ENOENT") {
    return { rendered: 0, faults: [], skipped: `skipped: kubectl is not installed, which renders ${directory}` }
  }
  const scratch = mkdtempSync(join(tmpdir(), "waybill-kubernetes-"))
  try {
    cpSync(join(root, directory), scratch, { recursive: true })
    for (const name of ["database-url", "operator-key", "sealing-key"]) writeFileSync(join(scratch, "example", name), "given by the operator")
    const results = rendered.map((name) => render(scratch, name))
    return { rendered: results.reduce((sum, { objects }) => sum + objects, 0), faults: results.flatMap(({ faults }) => faults) }
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

function render(scratch, name) {
  const { status, stderr, stdout } = spawnSync("kubectl", ["kustomize", join(scratch, name)], { encoding: "utf8", timeout: 60_000 })
  // it warns of fields that newer versions will not read
  if (status !== 0 || stderr !== "") return { objects: 0, faults: [`${directory}/${name}: kubectl kustomize says\n\n${stderr}`] }
  const objects = parseAllDocuments(stdout).map((document) => document.toJS())
  return { objects: objects.length, faults: [...references(objects)].map((fault) => `${directory}/${name}: ${fault}`) }
}

function* references(objects) {
  const of = (kind) => objects.filter((each) => each.kind === kind)
  const deployments = of("Deployment")
  const podsOf = (selector) => deployments.filter(({ spec }) => Object.entries(selector).every(([label, value]) => spec.template.metadata.labels[label] === value))
  if (deployments.length === 0) yield "there is no Deployment"
  for (const { metadata, spec } of deployments) {
    if (podsOf(spec.selector.matchLabels).length !== 1) yield `the pods of Deployment ${metadata.name} are not its own`
    const [{ secret }] = spec.template.spec.volumes.filter((volume) => volume.secret !== undefined)
    // without a generator the operator creates it, under the name in the docs
    const secrets = of("Secret").length === 0 ? ["waybill"] : of("Secret").map((each) => each.metadata.name)
    if (!secrets.includes(secret.secretName)) yield `there is no Secret ${secret.secretName}`
    const scaled = of("HorizontalPodAutoscaler").filter((each) => each.spec.scaleTargetRef.name === metadata.name)
    if ((spec.replicas === undefined) !== (scaled.length === 1)) yield `Deployment ${metadata.name} needs replicas or an autoscaler, and not both`
    const [{ ports }] = spec.template.spec.containers
    for (const service of of("Service").filter((each) => podsOf(each.spec.selector).length > 0)) {
      for (const { targetPort } of service.spec.ports) if (!ports.some((port) => port.name === targetPort)) yield `Service ${service.metadata.name} has no port ${targetPort}`
    }
  }
  for (const { metadata, spec } of [...of("Service").map(({ metadata, spec }) => ({ metadata, spec: { selector: { matchLabels: spec.selector } } })), ...of("PodDisruptionBudget")]) {
    if (podsOf(spec.selector.matchLabels).length !== 1) yield `${metadata.name} selects the pods of ${podsOf(spec.selector.matchLabels).length} Deployments`
  }
  const roles = deployments.map(({ spec }) => spec.template.spec.containers[0].env.find(({ name }) => name === "WAYBILL_ROLE")?.value ?? "all").sort()
  if (!["all", "api,worker"].includes(roles.join())) yield `its roles are ${roles.join()}`
}
