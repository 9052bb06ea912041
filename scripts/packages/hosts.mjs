// Hosts that install the packed packages beside other libraries, and then run docs/start-embedding.md, a test or a program.
import { execFile } from "node:child_process"
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { build } from "esbuild"
import { dashboardOf } from "./serves.mjs"

/** What a host installs of Waybill, and beside it; `on` is installed before. */
const service = { packages: ["core", "http", "postgres"], others: [] }
/** What docs/start-embedding.md installs. */
const page = { on: service, packages: ["client"], others: ["fastify@5.12.8", "pg@8.23.1"] }
const testing = { packages: ["core", "http", "testkit"], others: [] }
const client = { packages: ["client"], others: [] }
const server = { on: service, packages: ["client", "conformance", "edi", "server"], others: [] }
const types = "@types/node@24.10.1"
/** Every package. */
export const everything = { on: server, packages: ["testkit"], others: [types] }
const installedBy = { page, required: page, bundled: page, effect: page, vitest: testing, jest: testing, client, server, refused: page }

/**
 * @typedef {object} Host
 * @property {string} name
 * @property {"in both orders" | "once"} [everyTime] also in the short form; "once" installs its own packages after Waybill only,
 *   because the hosts with another effect prove that the order does not matter
 * @property {string[]} beside what it depends on besides Waybill
 * @property {"page" | "required" | "bundled" | "vitest" | "jest" | "effect" | "client" | "server" | "refused"} runs
 * @property {keyof typeof transactions} [library] whose transaction the page publishes in, instead of pg's
 * @property {"node" | "bun" | "deno"} [runtime] runs on the one in `beside`; on the workspace's Node by default
 * @property {string} [types] also checks the types of every entry point, with the TypeScript in `beside`; "all" includes what
 *   they import, and any other text is the reason why only the client is checked with all it imports
 */

/** @type {Host[]} */
export const hosts = [
  { name: "nothing else", beside: [], runs: "page" },
  { name: "effect 3.20", beside: ["effect@3.20.0"], runs: "page" },
  { name: "effect 4.0.6", everyTime: "in both orders", beside: ["effect@4.0.6"], runs: "effect" },
  { name: "Prisma 6", beside: ["prisma@6.19.0", "@prisma/client@6.19.0"], runs: "page" },
  { name: "Prisma 7", beside: ["prisma@7.10.1", "@prisma/client@7.10.0"], runs: "page" },
  { name: "Drizzle 0.44", beside: ["drizzle-orm@0.44.7"], runs: "page", library: "drizzle" },
  { name: "Drizzle 0.45", beside: ["drizzle-orm@0.45.4"], runs: "page", library: "drizzle" },
  { name: "Kysely 0.28", beside: ["kysely@0.28.8"], runs: "page", library: "kysely" },
  { name: "Kysely 0.29", beside: ["kysely@0.29.9"], runs: "page", library: "kysely" },
  { name: "the server beside effect 3.20", everyTime: "once", beside: ["effect@3.20.0"], runs: "server" },
  { name: "Node 20, the client alone", everyTime: "once", beside: ["node@20.20.2"], runs: "client", runtime: "node" },
  { name: "Node 20, refused by the service", beside: ["node@20.20.2"], runs: "refused", runtime: "node" },
  { name: "Node 22", beside: ["node@22.19.0"], runs: "page", runtime: "node" },
  { name: "Node 26", beside: ["node@26.10.0"], runs: "page", runtime: "node" },
  { name: "Bun 1.4", beside: ["bun@1.4.5"], runs: "page", runtime: "bun" },
  { name: "Deno 2.9", beside: ["deno@2.9.6"], runs: "page", runtime: "deno" },
  { name: "CommonJS", everyTime: "once", beside: [], runs: "required" },
  { name: "bundles without node_modules", everyTime: "once", beside: [], runs: "bundled" },
  { name: "Vitest 3", beside: ["vitest@3.2.7"], runs: "vitest" },
  { name: "Vitest 4", beside: ["vitest@4.1.12"], runs: "vitest" },
  { name: "Vitest 5", beside: ["vitest@5.1.0"], runs: "vitest" },
  { name: "Jest", everyTime: "once", beside: ["jest@30.5.2"], runs: "jest" },
  { name: "TypeScript 5.4", beside: ["typescript@5.4.5", types], runs: "page", types: "effect's own declarations need TypeScript 5.9" },
  { name: "TypeScript 5.9", everyTime: "once", beside: ["typescript@5.9.3", types], runs: "page", types: "all" },
  { name: "TypeScript 7.0", beside: ["typescript@7.0.2", types], runs: "page", types: "all" }
]

/**
 * Installs in both orders: the host's own packages first, and Waybill first.
 *
 * @param {Host} host
 * @param {object} options
 * @param {boolean} options.isShort
 * @param {Record<string, string>} options.tarballs by the folder's name
 * @param {ReturnType<typeof installations>} options.installed
 * @param {string} options.program the file of docs/start-embedding.md
 * @param {() => Promise<string>} options.database URL of an empty one
 * @returns {Promise<string[]>} problems
 */
export async function problemsIn(host, options) {
  const kind = installedBy[host.runs]
  const orders = { "Waybill installed first": waybillFirst, "Waybill installed last": waybillLast }
  if (host.beside.length === 0 || (options.isShort && host.everyTime === "once")) delete orders["Waybill installed last"]
  const problems = []
  for (const [order, installIn] of Object.entries(orders)) {
    const folder = mkdtempSync(join(tmpdir(), "waybill-host-"))
    try {
      await installIn(folder, host, kind, options)
      await runners[host.runs](folder, host, options)
      if (host.types !== undefined) await checkTypes(folder, host)
    } catch (error) {
      problems.push(`${host.name}, ${order}: ${[error.stdout, error.stderr].filter(Boolean).join("\n").trim() || error.stack}`)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  return problems
}

async function waybillFirst(folder, host, kind, { installed }) {
  await copy(await installed.of(kind), folder)
  writeManifest(folder, host)
  if (host.beside.length > 0) await install(folder, host.beside)
}

async function waybillLast(folder, host, kind, { tarballs }) {
  writeManifest(folder, host)
  await install(folder, host.beside)
  await install(folder, [...kind.on === undefined ? [] : namesOf(kind.on, tarballs), ...namesOf(kind, tarballs)])
}

const namesOf = ({ others, packages }, tarballs) => [...packages.map((name) => tarballs[name]), ...others]

/** Keeps the dependencies that an installation before has written. */
function writeManifest(folder, { runs }) {
  const file = join(folder, "package.json")
  const before = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {}
  writeFileSync(file, JSON.stringify({ ...before, name: "host", private: true, type: runs === "required" ? "commonjs" : "module" }))
}

/**
 * Waybill as its hosts install it, each kind once: npm takes longer to unpack it than everything else takes.
 *
 * @param {Record<string, string>} tarballs by the folder's name
 */
export function installations(tarballs) {
  const made = new Map()
  const make = async (kind) => {
    // beside the folders of hosts, because npm names tarballs by relative paths
    const folder = mkdtempSync(join(tmpdir(), "waybill-host-"))
    if (kind.on === undefined) writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "host", private: true }))
    else await copy(await of(kind.on), folder)
    await install(folder, namesOf(kind, tarballs))
    return folder
  }
  const of = (kind) => {
    if (!made.has(kind)) made.set(kind, make(kind))
    return made.get(kind)
  }
  return {
    of,
    remove: async () => {
      for (const folder of await Promise.allSettled(made.values())) if (folder.value !== undefined) rmSync(folder.value, { recursive: true, force: true })
    }
  }
}

const runners = {
  page: async (folder, host, { database, program }) => {
    writeFileSync(join(folder, "server.ts"), host.library === undefined ? program : inTransactionOf(host.library, program))
    await delivers(folder, "server.ts", await database(), host)
  },
  required: async (folder, host, { database, program }) => {
    writeFileSync(join(folder, "server.cts"), required(program))
    await delivers(folder, "server.cts", await database(), host)
  },
  bundled: async (folder, host, { database, program }) => {
    const empty = mkdtempSync(join(tmpdir(), "waybill-bundle-"))
    try {
      for (const [format, contents, banner] of [["esm", program, requireInModules], ["cjs", required(program), ""]]) {
        const file = format === "esm" ? "server.mjs" : "server.cjs"
        await build({
          stdin: { contents, loader: "ts", resolveDir: folder }, outfile: join(empty, file), bundle: true, platform: "node", format,
          banner: { js: banner }, external: ["pg-native"], logLevel: "silent"
        })
        await delivers(empty, file, await database(), host)
      }
    } finally {
      rmSync(empty, { recursive: true, force: true })
    }
  },
  // Waybill runs on its own copy beside the host's, and refuses layers that the host's copy builds
  effect: async (folder, host, options) => {
    await runners.page(folder, host, options)
    writeFileSync(join(folder, "mixed.ts"), `import { Waybill } from "@waybill/core"
import { Effect, Layer } from "effect"
const layer = Waybill.layer({ storage: Layer.empty, transport: Layer.empty } as never) as unknown as Layer.Layer<never>
console.log(String(await Effect.runPromise(Effect.flip(Effect.sandbox(Effect.scoped(Layer.build(layer)))))))
`)
    const { stdout } = await run(process.execPath, ["--disable-warning=ExperimentalWarning", "mixed.ts"], folder)
    if (!/Two copies of effect met: Waybill\.layer runs on the effect in \S+host-\w+\/node_modules\/effect, and Waybill on effect 4\.1\.\d+, loaded by \S+@waybill\/core/.test(stdout)) throw new Error(`A layer on the host's effect is not refused:\n${stdout}`)
  },
  client: async (folder, host) => {
    copyFileSync(clientProgram, join(folder, "program.mjs"))
    const { stdout } = await run(runtimeOf(folder, host), ["program.mjs"], folder)
    const version = host.beside.find((each) => each.startsWith("node@")).slice("node@".length)
    if (!stdout.includes(`received and called on Node ${version}`)) throw new Error(`The client's program prints\n${stdout}`)
  },
  refused: async (folder, host) => {
    writeFileSync(join(folder, "program.mjs"), `await import("@waybill/http").catch((error) => console.log(error.message))\n`)
    const { stdout } = await run(runtimeOf(folder, host), ["program.mjs"], folder)
    if (!stdout.startsWith("Waybill needs Node 22.19 or newer, and this is Node 20")) throw new Error(`An old Node is not refused in one sentence:\n${stdout}`)
  },
  server: async (folder) => {
    await dashboardOf(join(folder, "node_modules/waybill/dist/main.js"), folder)
  },
  vitest: async (folder) => {
    writeFileSync(join(folder, "freight.test.ts"), `import { expect, test } from "vitest"\nimport { startTestWaybill } from "@waybill/testkit"\n${test}`)
    await run(process.execPath, [join(folder, "node_modules/vitest/vitest.mjs"), "run"], folder)
  },
  jest: async (folder) => {
    writeFileSync(join(folder, "module.test.mjs"), `import { startTestWaybill } from "@waybill/testkit"\n${test}`)
    writeFileSync(join(folder, "common.test.cjs"), `const { startTestWaybill } = require("@waybill/testkit")\n${test}`)
    const program = join(folder, "node_modules/jest/bin/jest.js")
    await run(process.execPath, ["--experimental-vm-modules", program, "--testMatch", "**/*.test.{mjs,cjs}", "--testTimeout", "60000"], folder)
  }
}

/** What esbuild's users put before their modules, for packages that call `require`. */
const requireInModules = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`

const clientProgram = join(import.meta.dirname, "client-program.mjs")

/** Programs that open a transaction of the library and publish in it. */
const transactions = {
  drizzle: (publish) => `const { drizzle } = await import("drizzle-orm/node-postgres")
const { fromDrizzle } = await import("@waybill/postgres/drizzle")
await drizzle(pool).transaction(async (tx) => {
  ${publish("fromDrizzle(tx)")}
})`,
  kysely: (publish) => `const { Kysely, PostgresDialect } = await import("kysely")
const { fromKysely } = await import("@waybill/postgres/kysely")
await new Kysely<{}>({ dialect: new PostgresDialect({ pool }) }).transaction().execute(async (tx) => {
  ${publish("fromKysely(tx)")}
})`
}

function inTransactionOf(library, program) {
  const [, published] = /await client\.query\("INSERT[^\n]+\n([^]+)await client\.query\("COMMIT"\)/.exec(program)
  const code = transactions[library]((transaction) => published.replace("within(client)", `within(${transaction})`))
  return program.replace(/const client = await pool\.connect\(\)[^]+client\.release\(\)/, () => code)
}

const test = `test("freight is delivered", async () => {
  const waybill = await startTestWaybill()
  const receiver = waybill.receiver("https://shop.example/hook")
  const journey = waybill.journey("damaged")
  await journey.subscribe({ events: receiver.url })
  await journey.finish()
  receiver.assertSigned()
  expect(receiver.received.length).toBeGreaterThan(0)
  await waybill.stop()
})
`

const runtimeOf = (folder, { runtime }) => runtime === undefined ? process.execPath : join(folder, "node_modules/.bin", runtime)

/** What docs/start-embedding.md says that Deno has to allow. */
const argumentsOf = {
  node: ["--disable-warning=ExperimentalWarning"],
  bun: [],
  deno: ["run", "--no-prompt", "--allow-net", "--allow-env", "--allow-read", "--allow-sys"]
}

async function delivers(folder, file, url, host) {
  const { stdout } = await run(runtimeOf(folder, host), [...argumentsOf[host.runtime ?? "node"], file], folder, { DATABASE_URL: url })
  if (!stdout.includes("S-1 PICKED_UP") || !stdout.includes("200 1 event")) throw new Error(`docs/start-embedding.md prints\n${stdout}`)
}

/** The page as a CommonJS module: its imports are required, and its body is an asynchronous function. */
function required(program) {
  const imports = []
  const body = program.replace(/^import (.+) from ("[^"]+")$/gm, (_, what, from) => {
    const names = what.replace(/^\{(.*)\}$/, (_all, list) => `{${list.split(",").filter((name) => !/^\s*type /.test(name)).join(",")}}`)
    imports.push(`const ${names.replace(/ as /g, ": ")} = require(${from})`)
    return ""
  }).replaceAll(/: (HostPrincipal|Record<string, HostPrincipal>) =/g, " =")
  return `${imports.join("\n")}\nvoid (async () => {\n${body}\n})()\n`
}

async function checkTypes(folder, { types }) {
  const entry = (name) => `import * as used from "@waybill/${name}"\nexport const all = used\n`
  const names = [...service.packages, ...page.packages]
  for (const name of names) writeFileSync(join(folder, `${name}.ts`), entry(name))
  for (const resolution of ["NodeNext", "Bundler"]) {
    const check = async (files, skipLibCheck) => {
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({
        compilerOptions: {
          target: "ES2022", lib: ["ES2023", "DOM", "DOM.Iterable"], types: ["node"], strict: true, exactOptionalPropertyTypes: true,
          skipLibCheck, noEmit: true, module: resolution === "Bundler" ? "ESNext" : "NodeNext", moduleResolution: resolution
        },
        files
      }))
      await run(process.execPath, [join(folder, "node_modules/typescript/bin/tsc"), "-p", "."], folder)
    }
    await check(["server.ts", ...names.map((name) => `${name}.ts`)], types !== "all")
    if (types !== "all") await check(["client.ts"], false)
  }
}

/** MiB that `npm i @waybill/http @waybill/postgres` takes on the disk, in whole blocks. */
export async function installedSize(installed) {
  const { stdout } = await run("du", ["-sk", "node_modules"], await installed.of(service))
  return Number.parseInt(stdout) / 1024
}

export const copy = (from, to) => run("cp", ["-a", `${from}/.`, to], to)

const install = (folder, what) => run("npm", ["install", "--save-exact", "--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline", ...what], folder)

const execute = promisify(execFile)

function run(file, args, cwd, env = {}) {
  return execute(file, args, { cwd, encoding: "utf8", timeout: 240_000, maxBuffer: 64 * 1024 * 1024, env: { ...process.env, NODE_COMPILE_CACHE: "", ...env } })
}
