/** Every event, notification and charge is handled once, for any sender, network and crashes. */
import { forRandom, type SeededRandom } from "@waybill/conformance/fixtures"
import { createHmac } from "node:crypto"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { DeliveryReceiver, SeenInMemory, SequencesInMemory, signDelivery } from "../../src/receiver/index.ts"
import type { TransitEvent } from "../../src/transit-events/index.ts"
import { batchOf, bytesOf, chargeOf, deliveryInformation, deliveryUpdate, eventOf, secret } from "../samples.ts"

interface Delivery {
  readonly deliveryId: string
  readonly content: unknown
}

/**
 * Shipments with their events, split into deliveries, and deliveries of shipment status and freight charges. Some
 * deliveries repeat events, as a replay does.
 */
const randomDeliveries = (random: SeededRandom) => {
  const events: Array<TransitEvent> = []
  for (let shipment = random.below(4); shipment >= 0; shipment--) {
    const first = random.below(3)
    const last = first + random.below(12)
    for (let sequence = first; sequence <= last; sequence++) events.push(eventOf(`S${shipment}`, sequence))
  }
  const deliveries: Array<Delivery> = []
  const handOver = (deliveryId: string, content: unknown) => void deliveries.push({ deliveryId, content })
  for (let at = 0; at < events.length;) {
    const end = at + 1 + random.below(5)
    const deliveryId = `D${deliveries.length}`
    handOver(deliveryId, batchOf(deliveryId, events.slice(at, end)))
    at = end
  }
  for (let replay = random.below(4); replay > 0; replay--) {
    const from = random.below(events.length)
    handOver(`R${replay}`, batchOf(`R${replay}`, random.shuffle(events.slice(from, from + 1 + random.below(6)))))
  }
  const ids = events.map(({ eventId }) => eventId)
  for (let notice = random.below(5); notice > 0; notice--) {
    handOver(`N${notice}`, random.pick([deliveryUpdate, deliveryInformation]))
    ids.push(`N${notice}`)
  }
  for (let window = random.below(3); window > 0; window--) {
    const charges = Array.from({ length: 1 + random.below(3) }, (_, index) => chargeOf(`W${window}B${index}`, 1))
    handOver(`W${window}`, charges)
    ids.push(...charges.map(({ pfc }) => pfc.uniqueID))
  }
  return { events, deliveries, ids }
}

/** Processes of one receiver with shared storage, one for every attempt; each may crash during it. */
const processesOf = (random: SeededRandom) => {
  const clock = { now: 1_700_000_000_000 }
  const shared = { seen: new SeenInMemory({ now: () => clock.now }), sequences: new SequencesInMemory() }
  const handled: Array<string> = []
  const world = { calm: false }
  /** The status, or `undefined` when the process crashed. */
  const post = async ({ content, deliveryId }: Delivery): Promise<number | undefined> => {
    const body = bytesOf(content)
    const { headers } = await signDelivery({ secrets: secret, deliveryId, body, now: new Date(clock.now) })
    return new Promise((resolve, reject) => {
      const handle = async (ids: ReadonlyArray<string>) => {
        for (let turns = random.below(20); turns > 0; turns--) await Promise.resolve()
        if (!world.calm && random.share(0.2)) throw new Error("the handler's database is away")
        if (!world.calm && random.share(0.1)) {
          // Nothing was stored, and this attempt gets no response.
          resolve(undefined)
          await new Promise(() => {})
        }
        handled.push(...ids)
      }
      const receiver = new DeliveryReceiver({
        secrets: secret,
        ...shared,
        onEvents: (events) => handle(events.map(({ eventId }) => eventId)),
        onStatus: (_, context) => handle([context.deliveryId]),
        onCharges: (charges) => handle(charges.map(({ pfc }) => pfc.uniqueID)),
        onError: () => {},
        claimSeconds: 60,
        now: () => new Date(clock.now)
      })
      receiver.answer({ headers, body }).then(({ status }) => resolve(status), reject)
    })
  }
  return { clock, handled, post, sequences: shared.sequences, world }
}

describe("DeliveryReceiver, under any schedule,", () => {
  // WebCrypto completes on other threads in any order. A synchronous double makes the schedule of a seed reproducible.
  beforeAll(() => {
    vi.spyOn(crypto.subtle, "importKey").mockImplementation(async (...[, key]) => key as unknown as CryptoKey)
    vi.spyOn(crypto.subtle, "sign").mockImplementation(async (_, key, content) =>
      Uint8Array.from(createHmac("sha256", key as unknown as Uint8Array).update(content as Uint8Array).digest()).buffer)
  })
  afterAll(() => void vi.restoreAllMocks())

  it("loses nothing and handles nothing twice", async () => {
    const counts = { overlaps: 0, failures: 0, deaths: 0 }
    await forRandom(400, async (random) => {
      const { deliveries, events, ids } = randomDeliveries(random)
      const { clock, handled, post, sequences, world } = processesOf(random)
      const open = new Set(deliveries)
      for (let round = 0; open.size > 0; round++) {
        expect(round, "rounds").toBeLessThan(300)
        world.calm = round > 30
        // In any order: some concurrently, some acknowledged long ago.
        const wave = random.shuffle([...open, ...deliveries.filter(() => random.share(0.3))]).slice(0, 1 + random.below(6))
        await Promise.all(wave.map(async (delivery) => {
          const status = await post(delivery)
          expect([200, 500, 503, undefined]).toContain(status)
          if (status === 500) counts.failures += 1
          if (status === 503) counts.overlaps += 1
          if (status === undefined) counts.deaths += 1
          // An acknowledgement may be lost.
          if (status === 200 && random.share(0.8)) open.delete(delivery)
        }))
        clock.now += random.share(0.3) ? 61_000 : 1_000
      }
      expect(handled.toSorted()).toEqual(ids.toSorted())
      // The received numbers have no gap.
      const arrived = await sequences.arrived(events.map(({ shipment }) => shipment.shipmentId))
      for (const ranges of arrived.values()) expect(ranges).toHaveLength(1)
    })
    // The schedules covered every case.
    if (process.env["WAYBILL_SEED"] === undefined) for (const count of Object.values(counts)) expect(count).toBeGreaterThan(100)
  }, 60_000)
})
