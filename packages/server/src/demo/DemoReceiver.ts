/** The customer's receiver in the demo: verifies deliveries and prints one line for each. */
import { DeliveryReceiver, SeenInMemory } from "@waybill/client"
import { Effect, type Scope } from "effect"
import { once } from "node:events"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { bytesUpTo } from "../BytesUpTo.ts"
import { messageOf } from "../ErrorMessage.ts"
import { chargeLine, eventLine, statusLine } from "./DemoLines.ts"

const demoReceiverPath = "/demo-receiver"

/** Bytes; larger than any batch of the demo. */
const mostBytes = 2 * 1024 * 1024

export interface DemoReceiver {
  readonly port: number
  readonly url: string
}

/** Runs until the scope ends, on the previous port if it is free. Calls `secrets` for each delivery. */
export const runDemoReceiver = (options: {
  readonly port: number | undefined
  readonly secrets: () => string
  readonly print: (line: string) => void
}): Effect.Effect<DemoReceiver, never, Scope.Scope> => {
  const { port, secrets, print } = options
  const receiver = new DeliveryReceiver({
    secrets,
    seen: new SeenInMemory(),
    mostBytes,
    onEvents: (events, { deliveryId }) => print(eventLine(deliveryId, events)),
    onStatus: (notification, { deliveryId }) => print(statusLine(deliveryId, notification)),
    onCharges: (charges, { deliveryId }) => print(chargeLine(deliveryId, charges)),
    onError: (error) => print(`  ✗ the demo receiver failed: ${messageOf(error)}`)
  })
  const server = createServer((request, response) => {
    void bytesUpTo(mostBytes, request).catch(() => undefined).then(async (body) => {
      const answer = request.url === demoReceiverPath && request.method === "POST" && body !== undefined
        ? await receiver.answer({ headers: request.headers, body })
        : { status: 404, headers: {}, body: "" }
      if (answer.status === 401) print(`  ✗ refused a delivery: ${JSON.parse(answer.body).detail}`)
      response.writeHead(answer.status, answer.headers).end(answer.body)
    })
  })
  return Effect.map(
    Effect.acquireRelease(
      // Another process may use the port by now.
      Effect.promise(() => listenOn(server, port ?? 0).catch(() => listenOn(server, 0))),
      () =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    ),
    (port) => ({ port, url: `http://127.0.0.1:${port}${demoReceiverPath}` })
  )
}

const listenOn = async (server: Server, port: number): Promise<number> => {
  await once(server.listen(port, "127.0.0.1"), "listening")
  return (server.address() as AddressInfo).port
}
