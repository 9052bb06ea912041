/** Orders that wait for the carrier's decision, in two processes on one database. */
import { createWaybill } from "@waybill/http"
import { pickupRequest } from "@waybill/testkit"
import pg from "pg"
import { expect, inject, it, onTestFinished } from "vitest"
import { postgresStorage } from "../../src/index.ts"
import { freshSchema } from "../TestStorage.ts"
import { startReceiver } from "./Receiver.ts"
import { carrier, customer, tenantId } from "./Service.ts"

/** Longer than the test: an order that is answered was woken. */
const waitSeconds = 300

const start = async () => {
  const schema = freshSchema()
  const pool = new pg.Pool({ connectionString: inject("pgUrl"), max: 2 })
  const open = () => createWaybill({ storage: postgresStorage({ pool, schema, listen: false }), sealingKeys: [new Uint8Array(32).fill(7)], egressAllow: ["127.0.0.1"], pickupDesk: { waitSeconds }, log: () => {} })
  const [api, other] = [open(), open()]
  onTestFinished(async () => {
    await Promise.all([api.stop(), other.stop()])
    await pool.query(`DROP SCHEMA "${schema}" CASCADE`)
    await pool.end()
  })
  await api.tenants.put(tenantId, { name: "Acme" })
  return { api, other, pool }
}

const order = pickupRequest({ orgAccountNumber: "A", day: "2099-11-20" }) as never

/** The ids of `count` orders, as soon as the work list has them. */
const listed = async ({ pickups }: Awaited<ReturnType<typeof start>>["other"], count: number) => {
  const pickupIds: Array<string> = []
  for (let cursor: string | undefined; pickupIds.length < count;) {
    const { data, nextCursor } = await pickups.changes(carrier, cursor === undefined ? {} : { cursor })
    pickupIds.push(...data.map(({ pickupId }) => pickupId))
    cursor = nextCursor
  }
  return pickupIds
}

it("are answered when another process stores the decision, and hold no connection until then", async () => {
  const { api, other, pool } = await start()
  const orders = Array.from({ length: 10 }, () => api.pickups.create(customer, order))
  const pickupIds = await listed(other, orders.length)
  // both connections of the pool are free: one for a transaction of the host, one for the service
  const host = await pool.connect()
  await host.query("BEGIN")
  for (const [n, pickupId] of pickupIds.entries()) await other.pickups.decide(carrier, pickupId, { decision: "accept", confirmationNumber: `C-${n}` })
  const answers = await Promise.all(orders)
  await host.query("ROLLBACK")
  host.release()
  expect(answers.map(([answer]) => [answer!.pickupStatus, answer!.carrierPickupNumber]).toSorted()).toEqual(pickupIds.map((_, n) => ["Accept", `C-${n}`]))
})

it("are answered when a host's transaction with the decision commits, and not before", async () => {
  const { api, other, pool } = await start()
  const ordered = api.pickups.create(customer, order)
  const [pickupId] = await listed(other, 1)
  const client = await pool.connect()
  await client.query("BEGIN")
  await other.within(client).pickups.decide(carrier, pickupId!, { decision: "reject", message: "No truck." })
  expect((await other.pickups.changes(carrier)).data).toHaveLength(1)
  await client.query("COMMIT")
  client.release()
  expect(await ordered).toMatchObject([{ pickupStatus: "Reject", pickupMessage: ["No truck."] }])
})

it("are sent to the carrier's webhook while their call waits, as the database joins their entries", async () => {
  const receiver = await startReceiver()
  const { api, other } = await start()
  onTestFinished(() => receiver.close())
  await api.secrets.put(tenantId, "main", { anyClient: true })
  await other.pickupSubscriptions.create(carrier, { topics: ["pickups"], endpointUrl: receiver.hook("/pickups"), hmacSecretId: "main" })
  await other.start()
  let isAnswered = false
  const ordered = api.pickups.create(customer, order).finally(() => isAnswered = true)
  while (receiver.received.length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  expect(isAnswered).toBe(false)
  const { body } = receiver.received[0]!
  expect(body).toEqual({ deliveryId: expect.any(String), sentAt: expect.any(String), pickups: (await api.pickups.changes(carrier)).data })
  const [entry] = body.pickups
  // a carrier with a number sees it only until another one decides
  const rival = { ...carrier, client: "rival", dot: "2" }
  const { id } = await other.pickupSubscriptions.create(rival, { topics: ["pickups"], endpointUrl: receiver.hook("/rival"), hmacSecretId: "main" })
  await other.pickups.decide({ ...carrier, client: "one", dot: "1" }, entry.pickupId, { decision: "accept" })
  await ordered
  while (receiver.received.length === 1) await new Promise((resolve) => setTimeout(resolve, 20))
  expect(receiver.received.map(({ body, path }) => [path, body.pickups.map(({ change }: { readonly change: string }) => change)])).toEqual([["/pickups", ["ordered"]], ["/pickups", ["decided"]]])
  expect(await other.allSubscriptions.get(tenantId, id)).toMatchObject({ area: "pickups", waiting: 0, dropped: 0 })
})

it("are answered when their process stops", async () => {
  const { api, other } = await start()
  const ordered = api.pickups.create(customer, order)
  await listed(other, 1)
  await api.stop()
  expect(await ordered).toMatchObject([{ pickupStatus: "Call us", carrierPickupNumber: null }])
})
