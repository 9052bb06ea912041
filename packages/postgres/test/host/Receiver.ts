/** A webhook receiver on loopback that accepts everything. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface Received {
  readonly path: string
  readonly body: any
}

export const startReceiver = async () => {
  const received: Array<Received> = []
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (chunk: string) => void (body += chunk)).on("end", () => {
      received.push({ path: request.url!, body: JSON.parse(body) })
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    received,
    hook: (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    close: async () => {
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
