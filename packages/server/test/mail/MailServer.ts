/** A mail server for tests. */
import type { AddressInfo } from "node:net"
import { SMTPServer, type SMTPServerOptions } from "smtp-server"
import { onTestFinished } from "vitest"

interface Received {
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly text: string
}

/** A mail server on this machine that keeps what it accepts. */
export const mailServer = async (options: SMTPServerOptions = {}) => {
  const received: Array<Received> = []
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onData: (stream, session, done) => {
      const chunks: Array<Buffer> = []
      stream.on("data", (chunk: Buffer) => void chunks.push(chunk)).on("end", () => {
        const { mailFrom, rcptTo } = session.envelope
        received.push({ from: mailFrom === false ? "" : mailFrom.address, to: rcptTo.map(({ address }) => address), text: Buffer.concat(chunks).toString() })
        done()
      })
    },
    ...options
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return { received, port: (server.server.address() as AddressInfo).port }
}
