/** Calls with U+0000 in each of their texts in turn, which JSON and URLs can carry and Postgres cannot store. */
import { SeededRandom } from "@waybill/conformance/fixtures"
import type { WaybillStorage } from "@waybill/core"
import { createWaybill, type HostOperator, type HostPrincipal } from "../../src/index.ts"
import { type Call, callOf, contentTypeOf, targetOf } from "./Calls.ts"
import { type Operation, operations } from "./Operations.ts"
import { subjectNamed } from "./Subject.ts"

const tenantId = "acme"
const operator: HostOperator = { client: "staff", roles: ["operator"] }
const carrier: HostPrincipal = { tenantId, client: "tms", roles: ["carrier"] }
const customer: HostPrincipal = { tenantId, client: "shop", roles: ["customer"], accounts: ["A1"] }

const callersOf = ({ endpoint }: Operation): ReadonlyArray<HostPrincipal | HostOperator> => endpoint.access === "operator" ? [operator] : [carrier, customer]

const texts = ["\u0000", "a\u0000b"] as const

/** The value with the text in place of each of its texts in turn, and of each name of an object. */
function* withText(value: unknown, text: string): Generator<unknown> {
  if (typeof value === "string") yield text
  else if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) for (const changed of withText(item, text)) yield value.with(at, changed)
  } else if (typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      for (const changed of withText(member, text)) yield { ...value, [name]: changed }
    }
    yield { ...value, [text]: text }
  }
}

function* callsOf(operation: Operation, call: Call, text: string): Generator<Call> {
  for (const name of Object.keys(call.params)) yield { ...call, params: { ...call.params, [name]: text } }
  for (const name of Object.keys(operation.endpoint.query ?? {})) yield { ...call, query: { ...call.query, [name]: text } }
  for (const body of withText(call.body, text)) yield { ...call, body }
}

/** The calls that the service blames itself for. */
export const failuresOfNul = async (storage: WaybillStorage<any>): Promise<{ readonly sent: number; readonly failures: ReadonlyArray<string> }> => {
  const waybill = createWaybill({
    storage,
    authenticate: async (request) => JSON.parse(request.headers.get("x-as") ?? "null") ?? undefined,
    sealingKeys: [new Uint8Array(32).fill(7)],
    othersLookupsPerMinute: 1_000_000,
    log: () => {}
  })
  const subject = subjectNamed("q", { tenantId, accounts: ["A1"], dot: "1000001", mc: "MC-2000001", hmacSecretId: "main" })
  const failures: Array<string> = []
  let sent = 0
  try {
    await waybill.tenants.put(tenantId, { name: tenantId })
    await waybill.secrets.put(tenantId, "main", { anyClient: true })
    for (const operation of operations) {
      const valid = callOf(operation, subject, new SeededRandom(7), { full: true })
      for (const text of texts) {
        for (const call of callsOf(operation, valid, text)) {
          for (const caller of callersOf(operation)) {
            const target = targetOf(operation, call)
            const response = await waybill.handler(new Request(`http://waybill.test${target}`, {
              method: operation.endpoint.method,
              headers: { "x-as": JSON.stringify(caller), "content-type": contentTypeOf(operation) },
              ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) })
            }))
            await response.text()
            sent += 1
            if (response.status >= 500) failures.push(`${response.status} ${operation.id} ${target} ${JSON.stringify(call.body)?.slice(0, 2000) ?? ""}`)
          }
        }
      }
    }
  } finally {
    await waybill.stop()
  }
  return { sent, failures }
}
