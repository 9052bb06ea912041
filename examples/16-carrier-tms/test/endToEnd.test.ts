/** The programs as they run in production, on a real Postgres, with a customer's system on a real port. */
import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import pg from "pg"
import { Browser } from "../demo/Browser.ts"
import { CustomerSystem } from "../demo/CustomerSystem.ts"
import { bookings, dispatcher, harborUser } from "../demo/demoData.ts"
import { bookingFields } from "../demo/forms.ts"
import { prepare } from "../demo/prepare.ts"
import { Program } from "../demo/Program.ts"
import { demoSettings } from "../demo/settings.ts"
import { type RunningDatabase, startDatabase } from "../demo/startDatabase.ts"

let postgres: RunningDatabase
let env: Record<string, string>
let web: Program
let harborSystem: CustomerSystem
let dana: Browser
before(async () => {
  postgres = await startDatabase()
  env = { ...demoSettings(postgres.url), DELIVERY: "workers" }
  await prepare(env)
  web = await Program.start("server", env)
  dana = Browser.at(web.address)
  harborSystem = await CustomerSystem.start()
})
after(async () => {
  harborSystem?.stop()
  await postgres?.stop()
})

const query = async (sql: string) => {
  const client = new pg.Client({ connectionString: postgres.url })
  await client.connect()
  return client.query(sql).finally(() => client.end())
}

test("a dispatcher's action reaches the customer's system through a worker process", async () => {
  const hana = Browser.at(web.address)
  await hana.logIn(harborUser)
  const subscribed = await hana.submit("/webhooks", { url: harborSystem.url })
  harborSystem.secret = /<code>(.*?)<\/code>/.exec(subscribed.text)![1]!
  await dana.logIn(dispatcher)
  const booked = await dana.submit("/shipments", bookingFields(bookings.harbor))
  assert.match(booked.text, /<h1>Shipment 1001<\/h1>/)

  // the TMS's part of the transaction fails at its commit, after Waybill's part was written
  await query(`
    CREATE FUNCTION tms.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused at commit'; END $$;
    CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON tms.shipments DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tms.refuse()`)
  assert.equal((await dana.submit("/shipments/1001/assign", { driverId: 1 })).status, 500)
  await query("DROP TRIGGER refuse ON tms.shipments")
  assert.equal(JSON.parse((await hana.get("/freight/visibility/v1/events")).text).totalCount, 0)

  assert.equal((await dana.submit("/shipments/1001/assign", { driverId: 1 })).status, 200)
  await dana.submit("/shipments/1001/step", { step: "pick-up" })
  // no worker runs yet: the events wait in the database
  assert.deepEqual(harborSystem.received, [])
  const worker = await Program.start("worker", env)
  await harborSystem.until(2)
  assert.deepEqual(harborSystem.received, ["event 1 of S-1001: PICKUP_SCHEDULED", "event 2 of S-1001: PICKED_UP"])

  assert.equal(await worker.stop(), 0)
  assert.equal(await web.stop(), 0)
})

test("a session outlives the web process", async () => {
  web = await Program.start("server", env)
  const again = Browser.at(web.address)
  again.setCookie = dana.setCookie
  assert.match((await again.get("/")).text, /<h1>Board<\/h1>/)
  assert.equal((await again.get("/readyz")).text, "ready")
  assert.equal(await web.stop(), 0)
})
