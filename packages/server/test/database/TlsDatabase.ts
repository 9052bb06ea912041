import { createServer, type Server } from "node:net"
import { TLSSocket } from "node:tls"
import { onTestFinished } from "vitest"

/** A Postgres as far as TLS: it accepts the request for it, and shows this certificate. */
export const tlsDatabase = async (certificate: { readonly cert: string; readonly key: string }): Promise<number> => {
  const server: Server = createServer((socket) => {
    socket.on("error", () => {})
    socket.once("data", () => {
      socket.write("S")
      new TLSSocket(socket, { isServer: true, ...certificate }).on("error", () => {}).once("data", () => socket.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  return (server.address() as { readonly port: number }).port
}
