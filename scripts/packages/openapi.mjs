// Lints the OpenAPI documents of the installed packages, and compiles the clients that generators make of them.
// docs/decisions/0044-openapi-document.md lists the rules and exceptions.
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { promisify } from "node:util"
import { pathToFileURL } from "node:url"
import { areas } from "../areas.mjs"

/** Installed in a folder of their own, because they need another TypeScript than the workspace. */
const always = ["@redocly/cli@2.77.0", "openapi-typescript@7.13.0", "typescript@5.9.3"]
const inFull = ["@stoplight/spectral-cli@6.16.3", "@hey-api/openapi-ts@0.95.0", "orval@7.13.2"]

/** The interface publishes this path with its slash, and both forms are served. SPEC-GAP-C32 */
const withSlash = "#/paths/~1pickup~1v1~1pickups~1"

const documents = ["openapi", ...areas, "intake", "operator", "embedded"]

const program = `
import { createWaybill, WaybillHttp } from "@waybill/http"
import { memoryStorage } from "@waybill/testkit"
import { writeFileSync } from "node:fs"
const [folder, ...names] = process.argv.slice(2)
const waybill = createWaybill({ storage: memoryStorage(), apiKeys: true, operatorKeys: ["an-operator-key-of-24-characters"], sealingKeys: [new Uint8Array(32)], log: () => {} })
for (const name of names) {
  const path = name === "openapi" ? "/openapi.json" : \`/openapi/\${name}.json\`
  // a host that does not describe how it authenticates
  const text = name === "embedded"
    ? JSON.stringify(WaybillHttp.openApi({ securitySchemes: {}, publicBaseUrl: "https://freight.example/api" }))
    : await (await waybill.handler(new Request("https://freight.example" + path))).text()
  writeFileSync(\`\${folder}/\${name}.json\`, text)
}
await waybill.stop()
`

const uses = `
import type { components, paths, webhooks } from "./schema.ts"
export type Visibility = components["schemas"]["PickupVisibility"]
type Page = paths["/visibility/v1/events"]["get"]["responses"][200]["content"]["application/json"]
export const eventIds = (page: Page): ReadonlyArray<string> => page.data.map(({ eventId }) => eventId)
export const reason = (problem: paths["/visibility/v1/events"]["get"]["responses"][403]["content"]["application/problem+json"]): string => problem.title
export const lookupType: paths["/pickup/v1/pickups/"]["get"]["parameters"]["query"]["lookupType"] = "PRO"
export const deliveryId = (batch: webhooks["shipmentEvents"]["post"]["requestBody"]["content"]["application/json"]): string => batch.deliveryId
`

/**
 * @param {string} installed folder whose node_modules has the packages
 * @param {boolean} isShort only one linter and one generator
 * @returns {Promise<string[]>} problems
 */
export async function openApiProblems(installed, isShort) {
  const folder = mkdtempSync(join(tmpdir(), "waybill-openapi-"))
  try {
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "openapi", private: true, type: "module" }))
    await run("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline", ...always, ...(isShort ? [] : inFull)], folder)
    const file = join(installed, "openapi.mjs")
    writeFileSync(file, program)
    await run(process.execPath, [file, folder, ...documents], installed)
    configure(folder)
    const linters = isShort ? [redocly] : [redocly, spectral]
    const problems = []
    for (const lint of linters) {
      problems.push(...await findsFaults(folder, lint), ...await lint(folder, documents))
    }
    for (const [name, generate] of Object.entries(isShort ? { "openapi-typescript": generators["openapi-typescript"] } : generators)) problems.push(...await compiled(folder, name, generate))
    return problems
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function configure(folder) {
  writeFileSync(join(folder, "redocly.yaml"), "extends: [recommended]\n")
  // nothing in the embedded document says how callers authenticate, because only the host knows
  writeFileSync(join(folder, "redocly.embedded.yaml"), "extends: [recommended]\nrules:\n  security-defined: off\n")
  const ignored = documents.map((name) => `${name}.json:\n  no-path-trailing-slash:\n    - '${withSlash}'\n`)
  writeFileSync(join(folder, ".redocly.lint-ignore.yaml"), ignored.join(""))
  const overrides = `overrides:\n  - files: ["*.json${withSlash}"]\n    rules:\n      path-keys-no-trailing-slash: off\n`
  writeFileSync(join(folder, ".spectral.yaml"), `extends: ["spectral:oas"]\n${overrides}`)
}

/** One process for all documents, and one for the document with a configuration of its own. */
async function redocly(folder, names) {
  const problemsWith = async (config, some) => {
    // it names the problems and ends with 0 when all of them are warnings
    const text = await output(join(folder, "node_modules/.bin/redocly"), ["lint", ...some.map((name) => `${name}.json`), "--config", config, "--format=json", "--max-problems=100"], folder)
    // one object for each document, without anything between them
    const reports = JSON.parse(`[${text.replaceAll(/^\}\{/gm, "},{")}]`)
    return reports.flatMap(({ problems }) => problems).filter(({ ignored }) => ignored !== true).map(({ message, ruleId, location }) => `${location[0]?.source.ref}, redocly ${ruleId}: ${message} ${location[0]?.pointer ?? ""}`)
  }
  const { embedded = [], others = [] } = Object.groupBy(names, (name) => name === "embedded" ? "embedded" : "others")
  return [
    ...others.length > 0 ? await problemsWith("redocly.yaml", others) : [],
    ...embedded.length > 0 ? await problemsWith("redocly.embedded.yaml", embedded) : []
  ]
}

async function spectral(folder, names) {
  const found = []
  for (const name of names) {
    const text = await output(join(folder, "node_modules/.bin/spectral"), ["lint", `${name}.json`, "--format=json", "--quiet", "--fail-severity=hint"], folder)
    found.push(...JSON.parse(text === "" ? "[]" : text).map(({ code, message, path }) => `${name}.json, spectral ${code}: ${message} ${path.join("/")}`))
  }
  return found
}

/** Proves that a linter finds an undeclared path parameter and a reference to nothing. */
async function findsFaults(folder, lint) {
  const broken = JSON.parse(readFileSync(join(folder, "transit-events.json"), "utf8"))
  const { get } = broken.paths["/visibility/v1/subscriptions/{subscriptionId}"]
  get.parameters = []
  get.responses[200] = { $ref: "#/components/responses/Nothing" }
  writeFileSync(join(folder, "broken.json"), JSON.stringify(broken))
  const found = (await lint(folder, ["broken"])).join("\n")
  return /subscriptionId/.test(found) && /resolve|ref/i.test(found) ? [] : [`canary: ${lint.name} found only this in a broken document: ${found}`]
}

const generators = {
  "openapi-typescript": async (folder, out) => {
    // a redocly.yaml next to the document would apply too
    await run(join(folder, "node_modules/.bin/openapi-typescript"), [join(folder, "openapi.json"), "--output", join(out, "schema.ts")], out)
    writeFileSync(join(out, "uses.ts"), uses)
  },
  "@hey-api/openapi-ts": (folder, out) => run(join(folder, "node_modules/.bin/openapi-ts"), ["--input", join(folder, "openapi.json"), "--output", join(out, "client")], out),
  orval: async (folder, out) => {
    const config = { waybill: { input: join(folder, "openapi.json"), output: { target: join(out, "client.ts"), client: "fetch" } } }
    writeFileSync(join(out, "orval.config.cjs"), `module.exports = ${JSON.stringify(config)}\n`)
    await run(join(folder, "node_modules/.bin/orval"), ["--config", join(out, "orval.config.cjs")], out)
  }
}

async function compiled(folder, name, generate) {
  const out = join(folder, "generated", name.replaceAll(/[^a-z-]/g, "-"))
  mkdirSync(out, { recursive: true })
  try {
    await generate(folder, out)
    const files = readdirSync(out, { recursive: true }).filter((file) => file.endsWith(".ts"))
    if (files.length === 0) return [`${name} generated nothing`]
    const compilerOptions = { strict: true, noEmit: true, skipLibCheck: true, target: "ES2023", module: "ESNext", moduleResolution: "bundler", lib: ["ES2023", "DOM", "DOM.Iterable"], types: [], allowImportingTsExtensions: true }
    writeFileSync(join(out, "tsconfig.json"), JSON.stringify({ compilerOptions, files }))
    await run(join(folder, "node_modules/.bin/tsc"), ["-p", out], folder)
    console.log(`  ${name}: ${files.length} files compile`)
    return []
  } catch (error) {
    return [`${name}: ${[error.stdout, error.stderr].join("\n").trim().slice(0, 4000) || error.message}`]
  }
}

/** The output of a linter, also if it exits with 1. */
async function output(file, args, cwd) {
  try {
    return await run(file, args, cwd)
  } catch (error) {
    if (error.stdout) return error.stdout
    throw error
  }
}

const execute = promisify(execFile)

async function run(file, args, cwd) {
  // the tools start the first node of the path, which has to be this one
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` }
  const { stdout } = await execute(file, args, { cwd, env, encoding: "utf8", timeout: 300_000, maxBuffer: 64 * 1024 * 1024 })
  return stdout
}

// by itself, with the packages of the workspace: node scripts/packages/openapi.mjs <folder with the installed packages> [--short]
if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const problems = await openApiProblems(process.argv[2], process.argv.includes("--short"))
  for (const problem of problems) console.error(problem)
  process.exit(problems.length === 0 ? 0 : 1)
}
