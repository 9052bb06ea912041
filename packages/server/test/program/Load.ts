/** Carriers that publish while something happens, and checks of what their customers receive. */
import { expect } from "vitest"
import { eventually, type Program, type Reception, receiver } from "./Program.ts"
import { batchOf, firstDeliveries } from "./ReceivedEvents.ts"
import { event, tenantOn } from "./Tenant.ts"

const shipments = 10
const destinations = 3

interface Load {
  readonly url: string
  readonly operatorKey: string
  /** Their logs are shown when events are missing. */
  readonly programs: ReadonlyArray<Program>
  readonly tenants: ReadonlyArray<string>
  readonly rounds: number
  /** Whether the receiver refuses this attempt. It accepts all by default. */
  readonly refuses?: (reception: Reception) => boolean
}

/**
 * Publishes rounds of events for each tenant, which has subscriptions to all of them. Carriers repeat a call that failed. Returns what checks the
 * receptions once everything has arrived.
 */
export const underLoad = async ({ operatorKey, programs, refuses = () => false, rounds, tenants, url }: Load) => {
  const accepted = new Set<string>()
  const early: Array<string> = []
  const hook = await receiver((reception, response) => {
    const events = batchOf(reception).events.map(({ sequence, shipment }) => ({ sequence, shipment: `${reception.path} ${shipment.shipmentId}` }))
    for (const [at, { sequence, shipment }] of events.entries()) {
      const isNext = sequence === 1 || accepted.has(`${shipment} ${sequence - 1}`) || events.slice(0, at).some((before) => before.shipment === shipment && before.sequence === sequence - 1)
      if (!isNext) early.push(`${shipment} ${sequence} in ${reception.id}`)
    }
    if (refuses(reception)) return void response.writeHead(503).end()
    for (const { sequence, shipment } of events) accepted.add(`${shipment} ${sequence}`)
    response.writeHead(200).end()
  })
  const carriers = []
  for (const tenantId of tenants) {
    const tenant = await tenantOn(url, operatorKey, tenantId)
    for (let destination = 0; destination < destinations; destination++) {
      await tenant.customerAt(url).createSubscription({
        endpointUrl: `${hook.url}/${tenantId}/${destination}`,
        hmacSecretId: "main",
        delivery: { batchMaxSize: 4, initialBackoffSeconds: 1 }
      })
    }
    carriers.push(tenant.intakeAt(url))
  }
  const done: Array<number> = tenants.map(() => 0)
  const publishing = Promise.all(carriers.map(async (carrier, index) => {
    for (let round = 1; round <= rounds; round++) {
      const events = Array.from({ length: shipments }, (_, shipment) => event(`S-${shipment}`, round))
      await eventually(() => carrier.publishTransitEvents(events).then(() => true, () => undefined), { seconds: 120, what: () => `round ${round} of ${tenants[index]}` })
      done[index] = round
    }
  }))
  /** Waits until every tenant has published that round. */
  const reached = (round: number) => eventually(() => done.every((each) => each >= round) ? true : undefined, { seconds: 120, what: () => `round ${round}; ${done.join(", ")}` })
  /** Everything has arrived, in order, and with the same bytes at every attempt. Returns the number of repeats. */
  const check = async () => {
    await publishing
    const expected = tenants.length * destinations * shipments * rounds
    await eventually(() => accepted.size === expected ? true : undefined, {
      seconds: 180,
      what: () => `all events; ${accepted.size} of ${expected} are accepted:\n${programs.map(({ stderr }) => stderr.slice(-3000)).join("\n")}`
    })
    const { perShipment } = firstDeliveries(hook.receptions)
    expect(perShipment.size).toBe(tenants.length * destinations * shipments)
    for (const sequences of perShipment.values()) expect(sequences).toEqual(Array.from({ length: rounds }, (_, index) => index + 1))
    expect(early).toEqual([])
    const bodies = new Map<string, string>()
    for (const { body, id } of hook.receptions) {
      expect(bodies.get(id) ?? body).toBe(body)
      bodies.set(id, body)
    }
    return hook.receptions.length - bodies.size
  }
  return { check, reached }
}
