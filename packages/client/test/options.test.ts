import { describe, expect, it } from "vitest"
import { DocumentsClient, IntakeClient, InvoicesClient, PickupsClient, ShipmentStatusClient } from "../src/index.ts"
import { SeenInMemory, SeenInPostgres, SeenInPostgresTransaction, SeenInRedis, SequencesInMemory } from "../src/receiver/index.ts"
import { leastOrder } from "./pickup-samples.ts"
import { clientsOf, json } from "./scripted-server.ts"

describe("options of stores", () => {
  const pool = { connect: () => Promise.reject(new Error()), query: () => Promise.reject(new Error()) }
  it.each<readonly [string, () => unknown, string]>([
    ["SeenInMemory", () => new SeenInMemory({ size: 5 } as never), "SeenInMemory has no option size. It has capacity, now."],
    ["SeenInRedis", () => new SeenInRedis({ call: async () => null }, { prefx: "a:" } as never), "SeenInRedis has no option prefx. It has keepDays, prefix."],
    ["SeenInPostgres", () => new SeenInPostgres(pool, { tabel: "seen" } as never), "SeenInPostgres has no option tabel. It has keepDays, table."],
    ["SeenInPostgresTransaction", () => SeenInPostgresTransaction.ofPool(pool, { keepDays: "7" } as never), "keepDays of SeenInPostgresTransaction is a number above 0 and up to 36500, and got a value of type string."],
    ["SequencesInMemory", () => new SequencesInMemory({ shipments: NaN }), "shipments of SequencesInMemory is a number above 0, and got NaN."]
  ])("that %s does not have are refused at once", (_, open, message) => expect(open).toThrow(message))
})

describe("options of calls", () => {
  const pickups = clientsOf(PickupsClient)
  const invoices = clientsOf(InvoicesClient)
  const documents = clientsOf(DocumentsClient)
  const intake = clientsOf(IntakeClient)
  const statuses = clientsOf(ShipmentStatusClient)
  it.each<readonly [string, (options: never) => { readonly call: Promise<unknown>; readonly received: ReadonlyArray<unknown> }, object, string]>([
    ["an order", (options) => called(pickups, (client) => client.create(leastOrder, options)), { idempotencykey: "K1" }, "create has no option idempotencykey. It has signal, idempotencyKey."],
    ["a lookup of a pickup", (options) => called(pickups, (client) => client.visibility({ proNumber: "1" }, options)), { isTest: "true" }, "isTest of visibility is true or false, and got a value of type string."],
    ["a lookup of an invoice", (options) => called(invoices, (client) => client.get("1", options)), { carrier: { dot: "1" } }, "carrier has no option dot. It has DOT, MC."],
    ["a replaced invoice", (options) => called(invoices, (client) => client.replace({ uniqueID: "1" } as never, options)), { comment: {} }, "replace has no option comment. It has signal, comments."],
    ["a removed invoice", (options) => called(invoices, (client) => client.remove("1", options)), { comments: [] }, "remove has no option comments. It has signal, carrier, comment."],
    ["documents", (options) => called(documents, (client) => client.get("1", options)), { carier: {} }, "get has no option carier. It has signal, carrier."],
    ["a download", (options) => called(documents, (client) => client.download("1", () => undefined, options)), { carier: {} }, "download has no option carier. It has signal, carrier."],
    ["the removal of one file", (options) => called(documents, (client) => client.remove("1", options)), { fileId: "f-1" }, "remove has no option fileId. It has signal, carrier, fileIds, comment."],
    ["a publication", (options) => called(intake, (client) => client.registerShipments([], options)), { partail: true }, "publishing has no option partail. It has signal, partial."],
    ["any call", (options) => called(statuses, (client) => client.subscribe({} as never, options)), { signal: new AbortController() }, "signal of the call is an AbortSignal, and got a value of type object."]
  ])("of %s that are misspelt or of another type are refused, and nothing is sent", async (_, call, options, message) => {
    const { call: outcome, received } = call(options as never)
    await expect(outcome).rejects.toThrow(message)
    expect(received).toEqual([])
  })
})

const called = <Client>(clientOf: (answer: () => Response) => { readonly client: Client; readonly received: ReadonlyArray<unknown> }, call: (client: Client) => Promise<unknown>) => {
  const { client, received } = clientOf(() => json({}))
  return { call: call(client), received }
}
