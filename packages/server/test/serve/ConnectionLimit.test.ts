import { Effect, Logger } from "effect"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { expect, it, onTestFinished } from "vitest"
import { connectionsFor, limitConnections, shareOfFiles } from "../../src/serve/ConnectionLimit.ts"

it("leaves open files for the database and receivers", () => {
  expect(connectionsFor(shareOfFiles.customers, 1024)).toBe(512)
  expect(connectionsFor(shareOfFiles.operators, 1024)).toBe(102)
  expect(connectionsFor(shareOfFiles.customers, 1_000_000)).toBe(10_000)
  expect(connectionsFor(shareOfFiles.operators, 10)).toBe(2)
})

it.runIf(process.platform === "linux")("takes the limit of open files from the system", () => {
  // A child has the limits of this process.
  const openFiles = execFileSync("/bin/sh", ["-c", "ulimit -n"], { encoding: "utf8" }).trim()
  expect(connectionsFor(1 / 1000)).toBe(connectionsFor(1 / 1000, openFiles === "unlimited" ? undefined : Number(openFiles)))
})

const started = async (most: number) => {
  const lines: Array<unknown> = []
  const server = createServer((_, response) => response.end("answered"))
  const logger = Logger.layer([Logger.make(({ message }) => void lines.push(message))])
  await Effect.runPromise(Effect.provide(limitConnections(server, most), logger))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const sockets: Array<Socket> = []
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const open = async () => {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => undefined)
    sockets.push(socket)
    await once(socket, "connect")
    return socket
  }
  return { lines, open }
}

it("closes connections beyond the limit, keeps the others, and logs it once a minute", async () => {
  const { lines, open } = await started(2)
  const [first, second] = [await open(), await open()]
  for (let refused = 0; refused < 3; refused++) {
    const beyond = await open()
    beyond.resume()
    await once(beyond, "close")
  }
  for (const socket of [first, second]) {
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    expect(String((await once(socket, "data"))[0])).toContain("200 OK")
  }
  expect(lines).toEqual([["HTTP connections refused: 2 are open, which is the limit of this process."]])
})
