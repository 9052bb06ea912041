/** A day of the TMS: dispatchers and customers use its pages, and a customer's system receives webhooks. */
import { PickupsClient } from "@waybill/client"
import { Browser, type Shown } from "./Browser.ts"
import { CustomerSystem } from "./CustomerSystem.ts"
import { bookings, dispatcher, harborUser, pickupOrder, summitUser } from "./demoData.ts"
import { bookingFields } from "./forms.ts"
import { prepare } from "./prepare.ts"
import { Program } from "./Program.ts"
import { demoSettings } from "./settings.ts"
import { startDatabase } from "./startDatabase.ts"

const postgres = await startDatabase()
const env = demoSettings(postgres.url)
await prepare(env)
const tms = await Program.start("server", env)
const harborSystem = await CustomerSystem.start()

const [dana, hana, sam] = [Browser.at(tms.address), Browser.at(tms.address), Browser.at(tms.address)]
/** The text of the first element of this kind. */
const shown = ({ text }: Shown, element: string): string => new RegExp(`<${element}[^>]*>(.*?)</`).exec(text)?.[1] ?? "nothing"
let known = 0
const arrived = async (count: number) => {
  await harborSystem.until(known + count)
  for (const line of harborSystem.received.slice(known)) console.log(`  Harbor's system receives ${line}`)
  known += count
}

console.log(`a stranger sees: ${shown(await hana.get("/"), "h1")}`)
console.log(`Hana of Harbor Hardware logs in: ${shown(await hana.logIn(harborUser), "h1")}`)
const subscribed = await hana.submit("/webhooks", { url: harborSystem.url })
harborSystem.secret = shown(subscribed, "code")
console.log("she enters the address of her system, and gets its signing secret")

const [, key] = [...(await hana.submit("/api-key")).text.matchAll(/<code>(.*?)<\/code>/g)].map(([, text]) => text!)
const program = new PickupsClient({ baseUrl: `${tms.address}/freight`, apiKey: key! })
const [{ carrierPickupNumber }] = await program.create(pickupOrder)
const pickup = carrierPickupNumber!
console.log(`her program orders a pickup with an API key, and gets ${pickup}`)

console.log(`Dana of dispatch logs in: ${shown(await dana.logIn(dispatcher), "h1")}`)
await dana.submit(`/pickups/${pickup.slice(3)}/send`, { driverId: 2 })
console.log(`she sends a driver to ${pickup}: ${(await program.visibility({ confirmationId: pickup })).status}`)
const booked = await dana.submit("/shipments", bookingFields(bookings.harbor))
console.log(`she books ${shown(booked, "h1")}`)

const act = (action: string, fields: Record<string, string | number> = {}) => dana.submit(`/shipments/1001/${action}`, fields)
console.log("she assigns a driver, who picks the freight up")
await act("assign", { driverId: 1 })
await arrived(1)
await act("step", { step: "pick-up" })
await arrived(1)
const again = await act("step", { step: "pick-up" })
console.log(`she clicks twice: ${again.status} ${shown(again, "p role")}`)
console.log("she enters charges")
await act("charges", { kind: "linehaul", dollars: "210.50" })
await arrived(1)
await act("charges", { kind: "fuel", dollars: "62.88" })
await arrived(1)
console.log("the freight is delivered, and the bill is closed")
for (const step of ["depart", "go-out", "deliver"]) {
  await act("step", { step })
  await arrived(1)
}
await act("close-bill")
await arrived(1)

const json = ({ text }: Shown) => JSON.parse(text)
console.log(`Hana sees the shipment as ${/<th scope="row">Status<\/th><td>(.*?)</.exec((await hana.get("/my-freight/1001")).text)?.[1]}`)
console.log(`she reads ${json(await hana.get("/freight/visibility/v1/events")).totalCount} events from the interface`)
const portal = json(await hana.get("/portal/v1/subscriptions"))
console.log(`her portal is ${shown(await hana.get("/portal/"), "title")}, with ${portal.data.map(({ area, state }: { area: string; state: string }) => `${area} (${state})`).toSorted().join(" and ")}`)
await sam.logIn(summitUser)
console.log(`Sam of Summit Sports opens the shipment: ${(await sam.get("/my-freight/1001")).status}, and reads ${json(await sam.get("/freight/visibility/v1/events")).totalCount} events`)
console.log(`the web process ends with ${await tms.stop()}`)

harborSystem.stop()
await postgres.stop()
