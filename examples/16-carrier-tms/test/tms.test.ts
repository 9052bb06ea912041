import { PickupsClient } from "@waybill/client"
import { DeliveryReceiver, SeenInMemory } from "@waybill/client/receiver"
import { eq } from "drizzle-orm"
import assert from "node:assert/strict"
import { after, before, describe, test } from "node:test"
import type { Browser } from "../demo/Browser.ts"
import { bookings, dispatcher, harborUser, pickupOrder, summitUser } from "../demo/demoData.ts"
import { bookingFields } from "../demo/forms.ts"
import { sessions, shipments, users } from "../src/database/schema.ts"
import type { Booking } from "../src/shipments/dispatch.ts"
import { address, startTestTms, type TestTms } from "./startTestTms.ts"

const harborHook = "https://harbor.example/hook"

let tms: TestTms
let dana: Browser
let hana: Browser
/** As the TMS shows it to the customer. */
let harborSecret: string
before(async () => {
  tms = await startTestTms()
  dana = tms.browser()
  hana = tms.browser()
  await dana.logIn(dispatcher)
  await hana.logIn(harborUser)
  harborSecret = /<code>(.*?)<\/code>/.exec((await hana.submit("/webhooks", { url: harborHook })).text)![1]!
})
after(() => tms.stop())

const book = async (booking: Booking = bookings.harbor): Promise<number> => {
  const { text } = await dana.submit("/shipments", bookingFields(booking))
  return Number(/Shipment (\d+)/.exec(text)![1])
}
const assign = (number: number) => dana.submit(`/shipments/${number}/assign`, { driverId: 1 })
const step = (number: number, name: string, by = dana) => by.submit(`/shipments/${number}/step`, { step: name })
const statusOf = async (number: number) => (await tms.database.select().from(shipments).where(eq(shipments.number, number)))[0]?.status

/** The types of events that Harbor's system received about a shipment. */
const received = (number: number) =>
  tms.waybill.receiver(harborHook).received.flatMap(({ events = [] }) => events).filter(({ shipment }) => shipment.shipmentId === `S-${number}`).map(({ type }) => type)

describe("dispatch", () => {
  test("sends each step of a shipment to its customer, signed", async () => {
    const number = await book()
    await assign(number)
    for (const name of ["pick-up", "depart", "go-out", "deliver"]) await step(number, name)
    assert.deepEqual(received(number), ["PICKUP_SCHEDULED", "PICKED_UP", "DEPARTED_TERMINAL", "OUT_FOR_DELIVERY", "DELIVERED"])
    tms.waybill.receiver(harborHook).assertSigned()
    assert.equal(await statusOf(number), "delivered")
  })

  test("refuses a step that does not follow, and sends nothing", async () => {
    const number = await book()
    const refused = await step(number, "deliver")
    assert.equal(refused.status, 409)
    assert.match(refused.text, /is booked\. It must be out for delivery to become delivered\./)
    assert.deepEqual(received(number), [])
  })

  test("moves a shipment once when two dispatchers act at the same time", async () => {
    const number = await book()
    await assign(number)
    const answers = await Promise.all([step(number, "pick-up"), step(number, "pick-up")])
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409])
    assert.deepEqual(received(number), ["PICKUP_SCHEDULED", "PICKED_UP"])
  })

  test("sends nothing when the transaction fails after the publication", async () => {
    const number = await book()
    tms.failNextCommit()
    const failed = await assign(number)
    assert.equal(failed.status, 500)
    assert.match(failed.text, /nothing of it was stored/)
    assert.equal(await statusOf(number), "booked")
    assert.deepEqual(received(number), [])
  })

  test("delivers what happened during an outage of the customer's system, once and in order", async () => {
    const { waybill } = tms
    const number = await book()
    const handled: Array<string> = []
    const receiver = waybill.receiver(harborHook).answers("refuse")
    await assign(number)
    await step(number, "pick-up")
    await dana.submit(`/shipments/${number}/delay`, { notes: "Snow in Ohio" })
    await waybill.advance("2 hours")
    assert.equal(handled.length, 0)
    const own = new DeliveryReceiver({
      secrets: harborSecret,
      now: waybill.now,
      seen: new SeenInMemory(),
      onEvents: (events) => void handled.push(...events.map(({ notes, type }) => notes ?? type))
    })
    receiver.handledBy(own.handle).faults.duplicate()
    await waybill.advance("1 day")
    assert.deepEqual(handled, ["PICKUP_SCHEDULED", "PICKED_UP", "Snow in Ohio"])
    receiver.answers(200)
  })

  test("sends a version of the bill for each charge, and a final one", async () => {
    const number = await book()
    const charge = (kind: string, dollars: string) => dana.submit(`/shipments/${number}/charges`, { kind, dollars })
    await charge("linehaul", "210.50")
    await charge("liftgate", "40.00")
    await dana.submit(`/shipments/${number}/close-bill`)
    const bills = tms.waybill.receiver(harborHook).received.flatMap(({ charges = [] }) => charges).filter(({ referenceNumbers }) => referenceNumbers.shipmentId === `S-${number}`)
    assert.deepEqual(bills.map(({ charges, pfc }) => [pfc.function, charges.preliminaryTotalCharges]), [["PFC1", 210.5], ["PFC2", 250.5], ["PFC3", 250.5]])
    const late = await charge("detention", "10.00")
    assert.equal(late.status, 409)
    assert.match(late.text, /is closed/)
  })

  test("shows text of users as text", async () => {
    const number = await book({ ...bookings.harbor, description: "<script>alert(1)</script>" })
    const { text } = await hana.get(`/my-freight/${number}`)
    assert.match(text, /&lt;script&gt;alert\(1\)&lt;\/script&gt;/)
    assert.doesNotMatch(text, /<script/)
  })
})

describe("customers", () => {
  test("see and receive the freight of their own accounts only", async () => {
    const number = await book(bookings.summit)
    await assign(number)
    assert.equal((await hana.get(`/my-freight/${number}`)).status, 404)
    assert.doesNotMatch((await hana.get("/")).text, new RegExp(`/my-freight/${number}"`))
    assert.deepEqual(JSON.parse((await hana.get(`/freight/visibility/v1/events?shipmentId=S-${number}`)).text).data, [])
    assert.deepEqual(received(number), [])
    const sam = tms.browser()
    await sam.logIn(summitUser)
    assert.equal((await sam.get(`/my-freight/${number}`)).status, 200)
    assert.equal(JSON.parse((await sam.get(`/freight/visibility/v1/events?shipmentId=S-${number}`)).text).data.length, 1)
  })

  test("look after their own webhooks in the portal", async () => {
    const listed = JSON.parse((await hana.get("/portal/v1/subscriptions")).text)
    assert.deepEqual(listed.data.map(({ area, endpointUrl }: { area: string; endpointUrl: string }) => [area, endpointUrl]).toSorted(), [["freight-charges", harborHook], ["transit-events", harborHook]])
    const sam = tms.browser()
    await sam.logIn(summitUser)
    assert.deepEqual(JSON.parse((await sam.get("/portal/v1/subscriptions")).text).data, [])
    assert.equal((await sam.get(`/portal/v1/subscriptions/${listed.data[0].subscriptionId}`)).status, 404)
    assert.equal((await tms.browser().get("/portal/v1/subscriptions")).status, 401)
  })

  test("are told why an address cannot receive webhooks, and keep none of it", async () => {
    const sam = tms.browser()
    await sam.logIn(summitUser)
    const refused = await sam.submit("/webhooks", { url: "ftp://summit.example" })
    assert.equal(refused.status, 400)
    assert.match(refused.text, /endpointUrl/)
    assert.deepEqual(JSON.parse((await sam.get("/portal/v1/subscriptions")).text).data, [])
  })

  test("get a secret also after an address was refused, once", async () => {
    const sam = tms.browser()
    await sam.logIn(summitUser)
    await sam.submit("/webhooks", { url: "ftp://summit.example" })
    assert.match((await sam.submit("/webhooks", { url: "https://summit.example/hook" })).text, /<code>whsec_/)
    assert.equal((await sam.submit("/webhooks", { url: "https://summit.example/other" })).status, 409)
    assert.equal(JSON.parse((await sam.get("/portal/v1/subscriptions")).text).data.length, 2)
  })

  test("order pickups with the key of their programs, until a new key ends it", async () => {
    const newKey = async () => /<code>(wb\..*?)<\/code>/.exec((await hana.submit("/api-key")).text)![1]!
    const program = (apiKey: string) => new PickupsClient({ baseUrl: `${address}/freight`, apiKey, fetch: tms.fetch, retry: false })
    const first = program(await newKey())
    const [answer] = await first.create(pickupOrder, { idempotencyKey: "order-1" })
    const [again] = await first.create(pickupOrder, { idempotencyKey: "order-1" })
    const number = answer.carrierPickupNumber!
    assert.equal(again.carrierPickupNumber, number)
    assert.match((await dana.get("/pickups")).text, new RegExp(`${number}</th><td>Lakeshore Tools, Chicago IL`))
    await dana.submit(`/pickups/${number.slice(3)}/send`, { driverId: 2 })
    assert.equal((await first.visibility({ confirmationId: number })).status, "En Route")
    assert.equal((await dana.submit(`/pickups/${number.slice(3)}/send`, { driverId: 1 })).status, 409)

    const [other] = await first.create(pickupOrder)
    await first.cancel(other.carrierPickupNumber!)
    assert.doesNotMatch((await dana.get("/pickups")).text, new RegExp(other.carrierPickupNumber!))

    const second = program(await newKey())
    await assert.rejects(first.create(pickupOrder), { status: 401 })
    assert.equal((await second.visibility({ confirmationId: number })).status, "En Route")
  })

  test("cannot open or use the pages of dispatchers", async () => {
    const number = await book()
    for (const page of ["/book", "/pickups", `/shipments/${number}`]) assert.equal((await hana.get(page)).status, 403)
    assert.equal((await hana.submit(`/shipments/${number}/assign`, { driverId: 1 })).status, 403)
    assert.equal((await hana.submit("/shipments", bookingFields(bookings.harbor))).status, 403)
    assert.equal(await statusOf(number), "booked")
  })
})

describe("login", () => {
  test("sets a cookie that scripts cannot read, and ends with the session", async () => {
    const browser = tms.browser()
    assert.match((await browser.get("/")).text, /<h1>Log in<\/h1>/)
    assert.match((await browser.logIn(dispatcher)).text, /<h1>Board<\/h1>/)
    assert.match(browser.setCookie, /; HttpOnly; SameSite=Lax; Max-Age=43200; Secure$/)
    await browser.submit("/logout")
    assert.match((await browser.get("/")).text, /<h1>Log in<\/h1>/)
  })

  test("refuses a session whose time is over", async () => {
    const browser = tms.browser()
    await browser.logIn(summitUser)
    const [sam] = await tms.database.select().from(users).where(eq(users.email, summitUser.email))
    await tms.database.update(sessions).set({ expiresAt: new Date(Date.now() - 1) }).where(eq(sessions.userId, sam!.id))
    assert.match((await browser.get("/")).text, /<h1>Log in<\/h1>/)
    assert.equal((await browser.get("/freight/visibility/v1/events")).status, 401)
  })

  test("makes a user wait after five wrong passwords", async () => {
    const browser = tms.browser()
    const wrong = { ...summitUser, password: "guessed" }
    for (let attempt = 0; attempt < 5; attempt++) assert.equal((await browser.logIn(wrong)).status, 401)
    assert.equal((await browser.logIn(summitUser)).status, 401)
    await tms.database.update(users).set({ lockedUntil: new Date(Date.now() - 1) }).where(eq(users.email, summitUser.email))
    assert.match((await browser.logIn(summitUser)).text, /<h1>Your freight<\/h1>/)
  })

  test("refuses forms from pages of other sites", async () => {
    const number = await book()
    for (const headers of [{ "sec-fetch-site": "cross-site" }, { origin: "https://evil.example" }]) {
      assert.equal((await dana.submit(`/shipments/${number}/assign`, { driverId: 1 }, headers)).status, 403)
    }
    assert.equal(await statusOf(number), "booked")
  })
})
