import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse, parseAllDocuments, stringify } from "yaml"
import { root } from "../workspace.mjs"
import { schemaFaults } from "./manifests.mjs"
import { referenceFaults } from "./references.mjs"
import { settingFaults } from "./settings.mjs"
import { installTools } from "./tools.mjs"

const directory = "docs/deploy/helm/waybill"
const chart = join(root, directory)
const began = Date.now()
const faults = []
const folder = mkdtempSync(join(tmpdir(), "waybill-kubernetes-"))

/** What each file of values brings besides the objects that every installation has. */
const always = ["ConfigMap", "Deployment", "Job", "Pod", "PodDisruptionBudget", "Service", "Service"]
const brings = {
  "custom-ca": ["ServiceAccount"],
  default: ["ServiceAccount"],
  monitoring: ["ConfigMap", "Deployment", "NetworkPolicy", "PodDisruptionBudget", "PodMonitor", "PrometheusRule", "ServiceAccount"],
  public: ["Ingress", "ServiceAccount"],
  "restricted-database-user": [],
  "s3-documents": ["NetworkPolicy", "ServiceAccount"],
  "separate-workers": ["Deployment", "HorizontalPodAutoscaler", "ServiceAccount"]
}

/** Values that the chart refuses, with a part of what it says. */
const refusals = [
  { says: "image.repository is not set", values: { image: { repository: "" } } },
  { says: "secrets.existingSecret is not set", values: { secrets: { existingSecret: "" } } },
  { says: "additional properties 'WAYBILL_PUBLIC_URLL' not allowed", values: { settings: { WAYBILL_PUBLIC_URLL: "https://freight.example" } } },
  { says: "additional properties 'WAYBILL_DATABASE_URL' not allowed", values: { settings: { WAYBILL_DATABASE_URL: "postgres://user:password@host/waybill" } } },
  { says: "additional properties 'replica' not allowed", values: { server: { replica: 3 } } },
  { says: "ingress.hosts is empty", values: { ingress: { enabled: true } } },
  { says: "customCa has a configMap and a secret", values: { customCa: { configMap: "a", secret: "b" } } }
]

try {
  const tools = installTools(folder)
  if (tools.helm === undefined) {
    console.log("skipped: there is no helm. Its binary is installed on Linux x64; elsewhere install helm to render and check the chart. The tests of packages/server check its values and names.")
  } else {
    const helm = (...args) => tools.spawn(tools.helm, args)
    console.log(`${helm("version", "--short").stdout.trim()}, schemas of Kubernetes ${tools.kubernetes}`)
    const objects = await checkValues(helm)
    checkRefusals(helm)
    checkPackage(helm)
    console.log(`${objects} objects of ${Object.keys(brings).length} files of values, ${refusals.length} refusals`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

for (const fault of faults) console.error(`\n${fault}`)
console.log(`${faults.length === 0 ? "no faults" : `${faults.length} faults`}, after ${((Date.now() - began) / 1000).toFixed(0)} s`)
process.exit(faults.length === 0 ? 0 : 1)

async function checkValues(helm) {
  const files = readdirSync(join(chart, "ci")).map((file) => file.replace("-values.yaml", ""))
  if (files.join() !== Object.keys(brings).sort().join()) faults.push(`${directory}/ci has ${files.join(", ")}; scripts/kubernetes/check.mjs knows ${Object.keys(brings).join(", ")}`)
  const rendered = files.map((name) => ({ name, objects: render(helm, name) }))
  for (const { name, objects } of rendered) {
    const kinds = objects.map(({ kind }) => kind).sort().join()
    const wanted = [...always, ...(brings[name] ?? [])].sort().join()
    if (kinds !== wanted) faults.push(`${directory}/ci/${name}-values.yaml renders ${kinds} instead of ${wanted}`)
    for (const fault of [...referenceFaults(objects), ...await settingFaults(objects)]) faults.push(`${directory}/ci/${name}-values.yaml: ${fault}`)
  }
  checkRules(rendered.find(({ name }) => name === "monitoring").objects)
  faults.push(...await schemaFaults(folder, rendered))
  return rendered.reduce((sum, { objects }) => sum + objects.length, 0)
}

function render(helm, name) {
  const values = join(chart, "ci", `${name}-values.yaml`)
  const linted = helm("lint", "--strict", "--values", values, chart)
  if (linted.status !== 0) faults.push(`helm lint of ${name}: ${linted.stdout}${linted.stderr}`)
  const { status, stderr, stdout } = helm("template", "freight", chart, "--namespace", "freight", "--values", values)
  if (status !== 0) faults.push(`helm template of ${name}: ${stderr}`)
  return objectsIn(stdout)
}

/** Kubernetes reads YAML 1.1, in which 0440 is octal. */
function objectsIn(text) {
  return parseAllDocuments(text, { version: "1.1" }).map((document) => document.toJS()).filter((object) => object !== null)
}

function checkRefusals(helm) {
  const good = parse(readFileSync(join(chart, "ci/default-values.yaml"), "utf8"))
  for (const { says, values } of refusals) {
    const file = join(folder, "refused.yaml")
    writeFileSync(file, stringify({ ...good, ...values }))
    const { status, stderr } = helm("template", "freight", chart, "--values", file)
    if (status === 0 || !stderr.includes(says)) faults.push(`${JSON.stringify(values)} has to be refused with "${says}". helm exits with ${status}: ${stderr}`)
  }
}

/** The rules and the dashboard have one home, which the chart links to; a packaged chart has their contents. */
function checkPackage(helm) {
  const { status, stderr, stdout } = helm("package", chart, "--destination", folder)
  if (status !== 0) return void faults.push(`helm package: ${stderr}`)
  const file = /saved it to: (.+)/.exec(stdout)[1]
  checkRules(objectsIn(helm("template", "freight", file, "--values", join(chart, "ci/monitoring-values.yaml")).stdout))
}

function checkRules(objects) {
  const read = (path) => readFileSync(join(root, "docs/deploy", path), "utf8")
  const groups = ["recording", "alerts"].flatMap((name) => parse(read(`prometheus/${name}.yaml`)).groups)
  const rule = objects.find(({ kind }) => kind === "PrometheusRule")
  if (JSON.stringify(sorted(rule?.spec.groups)) !== JSON.stringify(sorted(groups))) faults.push("the PrometheusRule has other rules than docs/deploy/prometheus")
  const dashboard = objects.find(({ data }) => data?.["waybill.json"] !== undefined)
  if (dashboard?.data["waybill.json"] !== read("grafana/waybill.json")) faults.push("the dashboard is not that of docs/deploy/grafana")
}

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a.localeCompare(b)).map(([key, of]) => [key, sorted(of)]))
}
