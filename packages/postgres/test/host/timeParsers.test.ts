/** Hosts whose pg has another parser of times, as many set one for all of their queries: what their drivers return to Waybill. */
import pg from "pg"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { listed, withinCalls } from "./EveryCall.ts"
import { rejected, type Service, startService, subscribeToAll, tenantId } from "./Service.ts"

let service: Service

beforeAll(async () => {
  service = await startService()
  await service.waybill.tenants.put(tenantId, { name: "Acme" })
  await service.waybill.secrets.put(tenantId, "main", { anyClient: true })
  await subscribeToAll(service)
})
afterAll(() => service.close())

/** A transaction of a library over pg, which lets the host's parsers decode rows. */
const inTransaction = async <A>(parseTime: (text: string) => unknown, use: (within: ReturnType<Service["waybill"]["within"]>) => Promise<A>): Promise<A> => {
  const client = new pg.Client({ connectionString: service.url, types: { getTypeParser: (oid: number, format: "text") => oid === pg.types.builtins.TIMESTAMPTZ ? parseTime : pg.types.getTypeParser(oid, format) } as never })
  await client.connect()
  try {
    await client.query("BEGIN")
    const result = await use(service.waybill.within({ executeSql: (text, values) => client.query(text, [...values]) }))
    await client.query("COMMIT")
    return result
  } finally {
    await client.end()
  }
}

describe("a parser that returns the text of a Date, and throws for infinity", () => {
  const toText = (text: string) => new Date(text).toISOString()
  let count = 0

  it.each(listed(withinCalls))("serves %s", async (_, prepare) => {
    const call = await prepare(service, `t${++count}`)
    await inTransaction(toText, call)
  })
})

it.each([["an object", (text: string) => ({ text })], ["a number", Number]] as const)("a parser that returns %s is named, because a retry does not help", async (_, parse) => {
  const { code, message } = await rejected(inTransaction(parse, (within) => within.secrets.put(tenantId, "main", { anyClient: true })))
  expect([code, message]).toEqual(["internal_error", "The driver of the transaction given to within(tx) returns a timestamptz neither as a Date nor as text. Leave out the host's parser of timestamptz, or let it return one of both."])
})
