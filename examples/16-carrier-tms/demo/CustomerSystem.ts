/** A customer's system that receives webhooks, on a real port. */
import { DeliveryReceiver, SeenInMemory } from "@waybill/client/receiver"
import { EventEmitter, once } from "node:events"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"

export class CustomerSystem {
  /** What arrived, as text, in order. */
  readonly received: Array<string> = []
  /** The secret that the TMS showed to the customer. Until it is known, nothing is accepted. */
  secret = ""
  readonly url: string
  readonly #server: Server
  readonly #arrivals: EventEmitter

  private constructor(server: Server, arrivals: EventEmitter) {
    this.#server = server
    this.#arrivals = arrivals
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  }

  static start = async (): Promise<CustomerSystem> => {
    const arrivals = new EventEmitter()
    const receiver = new DeliveryReceiver({
      secrets: () => system.secret,
      seen: new SeenInMemory(),
      onEvents: (events) => {
        for (const { sequence, shipment, type } of events) system.#add(`event ${sequence} of ${shipment.shipmentId}: ${type}`)
      },
      onCharges: (bills) => {
        for (const { charges, pfc } of bills) system.#add(`bill ${pfc.function}: ${charges.preliminaryTotalCharges.toFixed(2)} ${charges.currencyType}`)
      }
    })
    const server = createServer(async (request, response) => {
      const chunks: Array<Uint8Array> = []
      for await (const chunk of request) chunks.push(chunk as Uint8Array)
      const { body, headers, status } = await receiver.answer({ headers: request.headers, body: Buffer.concat(chunks) })
      response.writeHead(status, headers).end(body)
    })
    await once(server.listen(0, "127.0.0.1"), "listening")
    const system = new CustomerSystem(server, arrivals)
    return system
  }

  /** Resolves when `count` messages have arrived in total. */
  async until(count: number): Promise<void> {
    while (this.received.length < count) await once(this.#arrivals, "arrived")
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  #add(line: string): void {
    this.received.push(line)
    this.#arrivals.emit("arrived")
  }
}
