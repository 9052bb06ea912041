/** Sends too long lists at every location that takes one. The locations come from the contracts, so new calls are covered. */
import { SeededRandom } from "@waybill/conformance/fixtures"
import { type ListLimits, listLimitsOf } from "@waybill/core"
import { describe, expect, it } from "vitest"
import { type Answer, runningService } from "../TestService.ts"
import { callOf, contentTypeOf, targetOf } from "./Calls.ts"
import { type Operation, operations } from "./Operations.ts"
import { keysOf } from "./Requests.ts"
import { subjectNamed } from "./Subject.ts"
import { faultOf } from "./Verdict.ts"

type Path = ReadonlyArray<string | 0>

interface PlacedList {
  readonly path: Path
  readonly maxItems: number
  readonly message: string
}

/** A nested list is in the first item of the outer one. */
const listsIn = (limits: ListLimits, path: Path = []): ReadonlyArray<PlacedList> => [
  ...(limits.maxItems === undefined ? [] : [{ path, maxItems: limits.maxItems, message: limits.message ?? `At most ${limits.maxItems} items.` }]),
  ...(limits.items === undefined ? [] : listsIn(limits.items, [...path, 0])),
  ...[...limits.members ?? []].flatMap(([name, inner]) => listsIn(inner, [...path, name]))
]

const withBody = operations.filter(({ endpoint }) => endpoint.body !== undefined)

const bombs = withBody.flatMap((operation) =>
  listsIn(listLimitsOf(operation.endpoint.body!.schema)).map((list) => [`${operation.id} at /${list.path.join("/")}`, operation, list] as const))

const subject = subjectNamed("bomb", { tenantId: "acme", accounts: ["A1"], dot: "1000001", mc: "MC-2000001" })

/** The body with `bomb` at that location. */
const placed = (body: unknown, [part, ...rest]: Path, bomb: unknown): unknown => {
  if (part === undefined) return bomb
  if (part === 0) return [placed(Array.isArray(body) ? body[0] : undefined, rest, bomb)]
  const object = typeof body === "object" && body !== null && !Array.isArray(body) ? body as Readonly<Record<string, unknown>> : {}
  return { ...object, [part]: placed(object[part], rest, bomb) }
}

const service = await runningService({ logLevel: "Error" })
const acme = await service.tenant("acme")
const customer = await acme.customer("shop", ["A1"])
const keys = { carrier: acme.carrier, customer, others: [customer] }

const send = async (operation: Operation, body: (call: unknown) => unknown): Promise<{ readonly answer: Answer; readonly fault: string | undefined }> => {
  const call = callOf(operation, subject, new SeededRandom(1), { full: true })
  const { endpoint } = operation
  const target = targetOf(operation, call)
  const made = body(call.body)
  const answer = await service.send(endpoint.method, target, {
    headers: { ...keysOf(operation, keys).right, "content-type": contentTypeOf(operation) },
    body: typeof made === "string" ? made : JSON.stringify(made)
  })
  return { answer, fault: faultOf(operation, endpoint.method, target.split("?", 1)[0]!, answer) }
}

/** The error message, in any area's format. */
const messageOf = ({ headers, text }: Answer): string => `${text} ${headers.get("x-waybill-detail") ?? ""}`

describe("a list that is too long", () => {
  it.each(bombs)("%s is refused by its length alone", async (_, operation, { maxItems, message, path }) => {
    // Each item is invalid, which an error would mention if items were checked.
    const bomb = Array.from({ length: maxItems + 1 }, () => ({ "\u0000": [] }))
    const { answer, fault } = await send(operation, (body) => placed(body, path, bomb))
    expect([answer.status, fault]).toEqual([400, undefined])
    expect(messageOf(answer)).toContain(message)
    if (Array.isArray(answer.json.errors)) expect(answer.json.errors).toEqual([{ detail: message, pointer: `/${path.join("/")}`, code: "out_of_bounds" }])
    else expect(messageOf(answer)).not.toMatch(/required|Expected/)
  })
})

/** As many as fit into the smallest body limit. */
const many = (piece: string): string => Array<string>(60_000).fill(piece).join(",")

describe.each(withBody.map((operation) => [operation.id, operation] as const))("%s", (_, operation) => {
  it.each([
    ["a list at the top", `[${many("{}")}]`],
    ["a list that nobody knows", `{"unknown":[${many("[]")}]}`],
    ["an object with very many members", `{${Array.from({ length: 15_000 }, (_, n) => `"m${n}":0`).join(",")}}`],
    ["a list in a list in a list", `${"[".repeat(30_000)}${"]".repeat(30_000)}`]
  ])("refuses %s for its content", async (_, body) => {
    const { answer, fault } = await send(operation, () => body)
    expect([answer.status, fault]).toEqual([400, undefined])
    expect(messageOf(answer)).toMatch(/At most \d+ |at most \d+ (values|members)|deeper than \d+ levels/)
  })

  it("returns at most a hundred errors", async () => {
    const limits = listLimitsOf(operation.endpoint.body!.schema)
    const full = (at: ListLimits): unknown =>
      at.maxItems === undefined
        ? Object.fromEntries([...at.members ?? []].map(([name, inner]) => [name, full(inner)]))
        : Array.from({ length: Math.min(at.maxItems, 300) }, () => at.items?.maxItems === undefined ? {} : full(at.items))
    const { answer, fault } = await send(operation, () => full(limits))
    expect([answer.status < 500, fault]).toEqual([true, undefined])
    if (Array.isArray(answer.json?.errors)) expect(answer.json.errors.length).toBeLessThanOrEqual(100)
  })
})
