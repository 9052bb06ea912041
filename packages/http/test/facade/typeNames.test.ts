/** A host needs no other package of Waybill to name arguments and results of methods. */
import { globSync, readFileSync } from "node:fs"
import { expect, it } from "vitest"

const src = new URL("../../src/", import.meta.url).pathname
const read = (path: string) => readFileSync(src + path, "utf8")
const namesIn = (list: string) => list.split(",").map((each) => each.trim().replace(/^type /, "").replace(/^\w+ as /, "")).filter((name) => name !== "")

/** Names that a module exports, also by `export *` of another. */
const exportsOf = (path: string): ReadonlyArray<string> => {
  const text = read(path)
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/") + 1) : ""
  return [
    ...Array.from(text.matchAll(/^export (?:interface|type|class|const) (\w+)/gm), ([, name]) => name!),
    ...Array.from(text.matchAll(/^export (?:type )?\{([^}]*)\}/gm), ([, list]) => namesIn(list!)).flat(),
    ...Array.from(text.matchAll(/^export (?:type )?\* from "\.\/([^"]+)"/gm), ([, other]) => exportsOf(folder + other!)).flat()
  ]
}

const signatures = [
  "facade/Waybill.ts",
  "facade/Options.ts",
  "facade/HostLog.ts",
  "facade/WaybillError.ts",
  "access/AuthenticatorHost.ts",
  ...globSync("facade/*Methods.ts", { cwd: src }).filter((path) => !/\/(Audited)?Methods\.ts$/.test(path))
]

/** The exported interfaces and types of a module, without comments. */
const declarationsOf = (path: string) =>
  Array.from(
    read(path).replaceAll(/\/\*\*[^]*?\*\/|\/\/.*$/gm, "").matchAll(/^export (?:interface \w+[^{]*\{[^]*?^\}|type \w+[^]*?(?=\n\n|\n$))/gm),
    ([declaration]) => declaration
  )

/** Of the language, and parts of types that have a name of their own. */
const known = new Set([
  "Array", "Date", "Error", "Extract", "Omit", "Partial", "Pick", "Promise", "ReadableStream", "Readonly", "ReadonlyArray", "Record", "Request", "Response", "Tx", "Uint8Array", "NoInfer",
  "FailureCode", "HostLogin"
])

it("@waybill/http exports every type in the signatures of the methods and options", () => {
  const exported = new Set(exportsOf("index.ts"))
  // what follows `typeof` is a schema: its type has the name of the declaration
  const named = signatures.flatMap((path) => declarationsOf(path).flatMap((text) => Array.from(text.matchAll(/(?<![\w"'`.]|typeof )[A-Z]\w*[a-z]\w*/g), ([name]) => name)))
  const wanted = [...new Set(named)].filter((name) => !known.has(name)).sort()
  expect(wanted.length).toBeGreaterThan(100)
  expect(wanted.filter((name) => !exported.has(name))).toEqual([])
})

it("no method takes or returns an object without a name", () => {
  const methods = signatures.flatMap((path) => declarationsOf(path).flatMap((text) => text.match(/\(principal: HostPrincipal[^]*?=> Promise<.*|\(tenantId: string[^]*?=> Promise<.*/g) ?? []))
  expect(methods.length).toBeGreaterThan(50)
  expect(methods.filter((method) => method.includes("{ "))).toEqual([])
})
