/** A customer's system that receives webhooks, for examples with several processes. */
import { DeliveryReceiver, SeenInMemory } from "@waybill/client/receiver"
import { EventEmitter, once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface Received {
  readonly shipmentId: string
  readonly sequence: number
}

export const startCustomer = async () => {
  const settings = { secret: "" }
  const received: Array<Received> = []
  const arrivals = new EventEmitter()
  const receiver = new DeliveryReceiver({
    secrets: () => settings.secret,
    seen: new SeenInMemory(),
    onEvents: (events) => {
      received.push(...events.map(({ sequence, shipment }) => ({ shipmentId: shipment.shipmentId, sequence })))
      arrivals.emit("events")
    }
  })
  const server = createServer(async (request, response) => {
    const chunks: Array<Uint8Array> = []
    for await (const chunk of request) chunks.push(chunk as Uint8Array)
    const { body, headers, status } = await receiver.answer({ headers: request.headers, body: Buffer.concat(chunks) })
    response.writeHead(status, headers).end(body)
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  return {
    settings,
    received,
    hook: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    /** Resolves when `count` events have arrived. */
    until: async (count: number) => {
      while (received.length < count) await once(arrivals, "events")
    },
    /** Whether the events of each shipment arrived once and in their order. */
    isInOrder: () => {
      const last = new Map<string, number>()
      return received.every(({ sequence, shipmentId }) => {
        const expected = (last.get(shipmentId) ?? 0) + 1
        last.set(shipmentId, sequence)
        return sequence === expected
      })
    },
    close: () => server.close()
  }
}
