/** The Helm chart knows the settings of the server and no others. `npm run kubernetes` renders it. */
import { assert, describe, it } from "@effect/vitest"
import { Ajv } from "ajv"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "yaml"
import { fileNameOf } from "../../src/config/Variable.ts"
import { variableNames } from "../../src/config/Variables.ts"

const root = join(import.meta.dirname, "../../../..")
const chart = join(root, "docs/deploy/helm/waybill")
const textOf = (path: string): string => readFileSync(join(chart, path), "utf8")
const valueFiles = globSync("ci/*.yaml", { cwd: chart })
const schema = JSON.parse(textOf("values.schema.json"))
const values = parse(textOf("values.yaml"), { version: "1.1" })
const isValid = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(schema)

/** What the chart sets for each process. */
const ownNames = ["WAYBILL_ADMIN_PORT", "WAYBILL_DATA_DIR", "WAYBILL_PORT", "WAYBILL_ROLE"]

const hasFile = (name: string): boolean => variableNames.includes(fileNameOf(name))
const isFile = (name: string): boolean => name.endsWith("_FILE") && variableNames.includes(name.slice(0, -"_FILE".length))

/** The path of each value of a file, such as `server.replicas`; an empty map or a list is one value. */
const pathsIn = (value: unknown, path: string): ReadonlyArray<string> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
    ? Object.entries(value).flatMap(([key, of]) => pathsIn(of, path === "" ? key : `${path}.${key}`))
    : [path]

describe("the Helm chart", () => {
  it("takes every setting of the server that is no secret and that it does not set itself", () => {
    const taken = Object.keys(schema.properties.settings.properties).filter((name) => name.startsWith("WAYBILL_"))
    const settings = variableNames.filter((name) => name.startsWith("WAYBILL_") && !hasFile(name) && !isFile(name) && !ownNames.includes(name))
    assert.deepStrictEqual(taken.toSorted(), settings.toSorted())
  })

  it("names only settings that the server knows", () => {
    for (const path of globSync(["*", "ci/*", "templates/**/*.*"], { cwd: chart, exclude: (name) => ["rules", "dashboards"].includes(name) }).filter((path) => path.includes("."))) {
      const names = Array.from(textOf(path).matchAll(/\bWAYBILL_[A-Z0-9_]+/g), ([name]) => name).filter((name) => !name.endsWith("_"))
      assert.deepStrictEqual(names.filter((name) => !variableNames.includes(name)), [], path)
    }
  })

  it("gives each process the files of the secrets and the settings that depend on the chart", () => {
    const helpers = textOf("templates/_helpers.tpl")
    const named = new Set(Array.from(helpers.matchAll(/(?:name|variable): (WAYBILL_[A-Z_]+)/g), ([, name]) => name!))
    assert.deepStrictEqual([...named].toSorted(), [...ownNames, ...variableNames.filter(isFile)].toSorted())
  })

  it.each(["values.yaml", ...valueFiles])("accepts %s", (path) => {
    assert.isTrue(isValid(parse(textOf(path), { version: "1.1" })), JSON.stringify(isValid.errors))
  })

  it.each([
    { settings: { WAYBILL_PUBLIC_ULR: "https://freight.example" } },
    { settings: { WAYBILL_OPERATOR_KEY: "an-operator-key-of-24-characters" } },
    { settings: { WAYBILL_ROLE: "api" } },
    { settings: { AWS_SECRET_ACCESS_KEY: "secret" } },
    { secrets: { operatorKey: "an-operator-key-of-24-characters" } },
    { server: { replica: 3 } }
  ])("refuses %j", (given) => assert.isFalse(isValid(given)))

  it("has values with which each part of values.schema.json is filled", () => {
    const given = pathsIn(values, "").map((path) => path.split(".")[0]!)
    assert.deepStrictEqual([...new Set([...given, "global"])].toSorted(), Object.keys(schema.properties).toSorted())
  })

  it("explains every value in its README, and no other", () => {
    const explained = Array.from(textOf("README.md").matchAll(/^\| ((?:`[^`]+`(?:, )?)+) \|/gm), ([, names]) => Array.from(names!.matchAll(/`([^`]+)`/g), ([, name]) => name!)).flat()
    const paths = pathsIn(values, "").map((path) => path.replace(/^worker\./, "server.").replace(/^settings\..*/, "settings"))
    // a table explains a map or a list as one value
    const missing = paths.filter((path) => !explained.some((name) => path === name || path.startsWith(`${name}.`)))
    const unknown = explained.filter((name) => name !== "worker" && !paths.some((path) => path === name || path.startsWith(`${name}.`)))
    assert.deepStrictEqual({ missing, unknown }, { missing: [], unknown: [] })
  })

  it("has the version of the packages", () => {
    const { version } = JSON.parse(readFileSync(join(root, "packages/server/package.json"), "utf8"))
    const { appVersion, version: ofChart } = parse(textOf("Chart.yaml"))
    assert.deepStrictEqual({ appVersion, ofChart }, { appVersion: version, ofChart: version })
  })
})
