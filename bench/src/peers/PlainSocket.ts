/**
 * The least that a sender of HTTP/1.1 can do on Node: one write for each request, and a read that takes any bytes for the response. It has
 * no deadline, parses nothing, and checks no address.
 */
import { connect, type Socket } from "node:net"

const readBuffer = Buffer.allocUnsafeSlow(32_768)
const writeBuffer = Buffer.allocUnsafeSlow(16_384)

export const makePlainPost = (receiver: string, headersOf: (id: string, body: Uint8Array) => Readonly<Record<string, string>>) => {
  const { hostname, host, port } = new URL(receiver)
  const idle: Array<Connection> = []

  interface Connection {
    readonly socket: Socket
    resolve: () => void
  }

  const open = () =>
    new Promise<Connection>((resolve, reject) => {
      const onread = {
        buffer: readBuffer,
        callback: () => {
          connection.resolve()
          return true
        }
      }
      const socket = connect({ port: Number(port), host: hostname, noDelay: true, onread })
      const connection: Connection = { socket, resolve: () => {} }
      socket.once("connect", () => resolve(connection))
      socket.once("error", reject)
    })

  return async (id: string, body: Uint8Array): Promise<void> => {
    const connection = idle.pop() ?? await open()
    await new Promise<void>((resolve) => {
      connection.resolve = resolve
      let head = `POST /hook HTTP/1.1\r\nhost: ${host}`
      for (const [name, value] of Object.entries(headersOf(id, body))) head += `\r\n${name}: ${value}`
      const at = writeBuffer.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n`, 0, "latin1")
      writeBuffer.set(body, at)
      connection.socket.write(writeBuffer.subarray(0, at + body.length))
    })
    idle.push(connection)
  }
}
