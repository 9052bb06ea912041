import { once } from "node:events"
import type { AddressInfo, Server } from "node:net"
import { endAfterwards } from "./endAfterwards.ts"

/** Lets a server listen on loopback until the end of the test or, outside of tests, of the file. Returns its URL. */
export const listening = async (server: Server & { closeAllConnections?(): void }): Promise<string> => {
  if (!server.listening) await once(server.listen(0, "127.0.0.1"), "listening")
  endAfterwards(() => {
    server.closeAllConnections?.()
    return new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
