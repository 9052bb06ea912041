/** Random interleavings of transactions that commit and roll back, in every library at once. */
import { SeededRandom } from "@waybill/conformance/fixtures"
import { afterAll, beforeAll, expect, inject, it } from "vitest"
import { drizzleHost, type Host, knexHost, kyselyHost, mikroOrmHost, type Open, pgHost, prismaHost, typeOrmHost } from "./Hosts.ts"
import { bill, carrier, deliver, event, invoice, rejected, type Service, startService, subscribeToAll } from "./Service.ts"

const isLong = process.env["WAYBILL_PROOF"] === "long"
/** A thousand cover every combination of library, area, shape and end; `npm run proof` runs the long form. */
const interleavings = isLong ? 10_000 : 1_000
/** How many run concurrently; each has two or five transactions that write to the same shipment. */
const destinations = 6
const most = 5
const handful = (n: number) => n % 10 === 0 ? most : 2

const pause = async (turns: number) => {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
}

class TakenBack extends Error {}

let service: Service
let libraries: ReadonlyArray<Host>

beforeAll(async () => {
  service = await startService()
  await subscribeToAll(service)
  libraries = [pgHost, drizzleHost, kyselyHost, knexHost, prismaHost, typeOrmHost, mikroOrmHost].map((hostOf) => hostOf({ url: inject("pgUrl"), max: destinations * most }))
})
afterAll(async () => {
  for (const library of libraries) await library.close()
  await service.close()
})

it("interleavings leave committed writes, once, and nothing else", { timeout: 600_000 }, async () => {
  const seed = Number(process.env["WAYBILL_TEST_SEED"] ?? 7)
  const committed = { own: [] as Array<string>, events: [] as Array<string>, bills: [] as Array<string>, invoices: [] as Array<string> }
  type Committed = typeof committed

  const publish = async ({ within }: Open, kind: number, shipmentId: string, id: string): Promise<Partial<Committed>> => {
    const tx = service.waybill.within(within)
    if (kind < 18) {
      await tx.events.publish(carrier, [event(shipmentId, id)])
      return { events: [id] }
    }
    if (kind === 18) {
      await tx.freightCharges.publish(carrier, [bill(id)])
      return { bills: [id] }
    }
    await tx.invoices.create(carrier, invoice(id))
    return { invoices: [id] }
  }
  const keep = (into: Partial<Committed>) => {
    for (const [kind, ids] of Object.entries(into)) committed[kind as keyof Committed].push(...ids)
  }

  const transaction = async (random: SeededRandom, shipmentId: string, id: string) => {
    const [library, kind, before, after, shape, ends] = [random.below(libraries.length), random.below(20), random.below(4), random.below(4), random.below(8), random.below(2)]
    await pause(before)
    const written: Array<Partial<Committed>> = []
    await libraries[library]!.transaction(async (open) => {
      if (shape === 0) {
        // a rolled back savepoint with a call inside
        await rejected(open.nested(async (inner) => {
          await publish(inner, kind, shipmentId, `${id}UNDONE`)
          throw new TakenBack()
        }))
      }
      if (shape === 1) {
        await open.send(`INSERT INTO ${service.own} VALUES ('${id}')`)
        written.push({ own: [id] })
      }
      written.push(
        shape === 2
          ? await open.nested((inner) => publish(inner, kind, shipmentId, id))
          : await publish(open, kind, shipmentId, id)
      )
      await pause(after)
      if (ends === 0) throw new TakenBack()
    }).then(() => written.forEach(keep), (error: unknown) => {
      if (!(error instanceof TakenBack)) throw error
    })
  }

  const destination = async (number: number) => {
    for (let n = number; n < interleavings; n += destinations) {
      const randoms = Array.from({ length: handful(n) }, (_, which) => new SeededRandom(seed * 1_000_003 + n * most + which))
      await Promise.all(randoms.map((random, which) => transaction(random, `S-${n % 997}`, `N${n}T${which}`)))
    }
  }
  await Promise.all(Array.from({ length: destinations }, (_, number) => destination(number)))

  const all = async (sql: string) => (await service.pool.query<{ id: string }>(sql)).rows.map(({ id }) => id).sort()
  const table = (name: string) => `"${service.schema}".${name}`
  expect(committed.events.length).toBeGreaterThan(interleavings * 0.9)
  expect(await all(`SELECT id FROM ${service.own}`)).toEqual(committed.own.sort())
  expect(await all(`SELECT event_id AS id FROM ${table("transit_events")}`)).toEqual(committed.events.sort())
  // rolled back calls have used no number of their shipment
  const gaps = await all(`SELECT shipment_id AS id FROM ${table("transit_events")} GROUP BY 1 HAVING max(sequence) <> count(*) OR count(DISTINCT sequence) <> count(*)`)
  expect(gaps).toEqual([])

  const arrived = await deliver(service)
  const received = (path: string) => arrived.filter((each) => each.path === path).map(({ body }) => body)
  expect(received("/events").flatMap(({ events }) => events.map((each: { readonly eventId: string }) => each.eventId)).sort()).toEqual(committed.events)
  expect(received("/charges").flat().map(({ pfc }) => pfc.uniqueID).sort()).toEqual(committed.bills.sort())
  expect(await all(`SELECT unique_id AS id FROM ${table("invoices")}`)).toEqual(committed.invoices.sort())
  expect(await deliver(service)).toEqual([])
  if (isLong) process.stdout.write(`interleavings: ${interleavings} interleavings, ${committed.events.length} events, ${committed.bills.length} bills, ${committed.invoices.length} invoices\n`)
})
