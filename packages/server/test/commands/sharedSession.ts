/** A pooler in transaction mode with one connection: every client gets the session of the first. */
import { connect, createServer, type Socket } from "node:net"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"

/** Returns the pooler's URL. Clients have to take turns. */
export const sharedSession = async (pgUrl: string): Promise<string> => {
  const url = new URL(pgUrl)
  const database = connect(Number(url.port), url.hostname).on("error", () => {})
  let client: Socket | undefined
  /** What the database said when the first client was admitted; `undefined` until then. */
  let admission: Buffer | undefined
  database.on("data", (data: Buffer) => {
    // AuthenticationOk, up to the first ReadyForQuery
    const ok = data.indexOf(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]))
    if (admission === undefined && ok >= 0) admission = data.subarray(ok)
    client?.write(data)
  })
  const pooler = createServer((socket) => {
    let isNew = true
    socket.on("error", () => {}).on("data", (data: Buffer) => {
      client = socket
      const isLater = isNew && admission !== undefined
      isNew = false
      if (isLater) socket.write(admission!)
      else if (data[0] !== 0x58) database.write(data)
    })
  })
  await new Promise<void>((resolve) => pooler.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    database.destroy()
    pooler.close()
  })
  url.port = String((pooler.address() as AddressInfo).port)
  return url.href
}
