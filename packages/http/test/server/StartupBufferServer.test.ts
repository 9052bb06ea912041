import { once } from "node:events"
import { Agent, get, type IncomingMessage, type Server } from "node:http"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { expect, it, onTestFinished, vi } from "vitest"
import { createStartupBufferServer } from "../../src/index.ts"

const listen = async (server: Server) => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return (server.address() as AddressInfo).port
}

interface Got {
  readonly status: number
  readonly headers: IncomingMessage["headers"]
  readonly text: string
}

const ask = (port: number, agent: Agent | false = false): Promise<Got> =>
  new Promise((resolve, reject) => {
    get({ port, host: "127.0.0.1", agent, path: "/" }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (chunk: string) => void (text += chunk)).on("end", () =>
        resolve({ status: response.statusCode!, headers: response.headers, text }))
    }).on("error", reject)
  })

/** Resolves when this number of connections are open. */
const opened = async (server: Server, count: number) => {
  for (let open = -1; open !== count;) {
    await new Promise((resolve) => setImmediate(resolve))
    open = await new Promise<number>((resolve) => server.getConnections((_error, connections) => resolve(connections)))
  }
}

/** Resolves when this number of connections are open and were read from. */
const arrived = async (server: Server, count: number) => {
  await opened(server, count)
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

it("holds requests that arrive before it is ready, and answers them then", async () => {
  const server = createStartupBufferServer()
  const port = await listen(server)
  const early = [ask(port), ask(port), ask(port)]
  await arrived(server, 3)
  server.on("request", (_request, response) => response.end("ready"))
  expect((await Promise.all(early)).map(({ status, text }) => [status, text])).toEqual(Array(3).fill([200, "ready"]))
  expect((await ask(port)).text).toBe("ready")
  server.close()
})

it("begins no request whose caller left before the connection was accepted", async () => {
  const server = createStartupBufferServer()
  const begun: Array<string> = []
  server.on("request", (request, response) => {
    begun.push(request.url!)
    response.end()
  })
  // what it has accepted is not read until the test passes it on
  const waiting = createServer({ pauseOnConnect: true })
  waiting.listen(0, "127.0.0.1")
  await once(waiting, "listening")
  const send = async (path: string) => {
    const accepted = once(waiting, "connection")
    const client = connect((waiting.address() as AddressInfo).port, "127.0.0.1").resume()
    client.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
    const [socket] = await accepted as [Socket]
    return { client, socket }
  }
  const serve = (socket: Socket) => {
    server.emit("connection", socket)
    socket.resume()
  }
  const left = await send("/left")
  left.client.end()
  await once(left.client, "finish")
  serve(left.socket)
  await once(left.socket, "close")
  const stayed = await send("/stayed")
  serve(stayed.socket)
  await once(stayed.client, "data")
  expect(begun).toEqual(["/stayed"])
  stayed.client.destroy()
  waiting.close()
})

it("waits for requests in flight while stopping, answers new ones with 503, and closes every connection", async () => {
  const server = createStartupBufferServer()
  const finish: Array<() => void> = []
  server.on("request", (_request, response) => void finish.push(() => response.end("done")))
  const port = await listen(server)
  // A keep-alive connection, so that a new request can arrive while stopping.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const running = ask(port)
  const first = ask(port, agent)
  while (finish.length < 2) await new Promise((resolve) => setImmediate(resolve))
  finish[1]!()
  const kept = await first
  expect(kept.status).toBe(200)
  const second = ask(port, agent)
  while (finish.length < 3) await new Promise((resolve) => setImmediate(resolve))
  const closed = once(server, "close")
  server.close()
  finish[0]!()
  finish[2]!()
  const [one, two] = await Promise.all([running, second])
  expect([one.status, one.text, two.status, two.headers.connection]).toEqual([200, "done", 200, "close"])
  agent.destroy()
  await closed
})

it("answers 503 as problem details to a request on an open connection while stopping", async () => {
  const server = createStartupBufferServer()
  const finish: Array<() => void> = []
  server.on("request", (_request, response) => void finish.push(() => response.end("done")))
  const port = await listen(server)
  const running = ask(port)
  while (finish.length < 1) await new Promise((resolve) => setImmediate(resolve))
  const { connect } = await import("node:net")
  const socket = connect(port, "127.0.0.1")
  let text = ""
  socket.setEncoding("utf8").on("data", (chunk: string) => void (text += chunk))
  // Half a request keeps the connection busy, so that closing does not end it.
  socket.write("GET / HTTP/1.1\r\nhost: x\r\n")
  await arrived(server, 2)
  server.close()
  socket.write("\r\n")
  await once(socket, "close")
  expect(text).toMatch(/^HTTP\/1\.1 503 /)
  expect(text.toLowerCase()).toContain("connection: close")
  expect(text).toContain("content-type: application/problem+json")
  expect(JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4))).toMatchObject({ status: 503, code: "stopping" })
  finish[0]!()
  expect((await running).text).toBe("done")
})

it("answers held requests when it stops before it was ready", async () => {
  const server = createStartupBufferServer()
  const port = await listen(server)
  const early = ask(port)
  await arrived(server, 1)
  server.close()
  expect((await early).status).toBe(503)
})

/** A connection that records whether the server closed it. */
const connection = async (port: number) => {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined).resume()
  await once(socket, "connect")
  onTestFinished(() => void socket.destroy())
  const request = async () => {
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return String((await once(socket, "data"))[0]).slice(0, 15)
  }
  return { socket, request, closed: once(socket, "close") }
}

it("closes the oldest connections without a request beyond half of maxConnections, and idle ones beyond all of it", async () => {
  const server = createStartupBufferServer()
  server.maxConnections = 4
  server.on("request", (_request, response) => response.end("answered"))
  const port = await listen(server)
  onTestFinished(() => void server.close())
  const kept = await connection(port)
  expect(await kept.request()).toBe("HTTP/1.1 200 OK")
  const [silent, halfway] = [await connection(port), await connection(port)]
  halfway.socket.write("GET / HTTP/1.1\r\nHost: ")
  const second = await connection(port)
  await silent.closed
  const third = await connection(port)
  await halfway.closed
  for (const each of [second, third, kept]) expect(await each.request()).toBe("HTTP/1.1 200 OK")
  const fourth = await connection(port)
  expect(await fourth.request()).toBe("HTTP/1.1 200 OK")
  const beyond = await connection(port)
  await Promise.all([kept, second, third, fourth, beyond].map(({ closed }) => closed))
})

it("answers the requests of a connection one after the other, and reads no more of them than it can keep", async () => {
  const server = createStartupBufferServer()
  const finish: Array<() => void> = []
  server.on("request", (_request, response) => void finish.push(() => response.end("done")))
  const port = await listen(server)
  onTestFinished(() => void server.close())
  const served = once(server, "connection")
  const { socket } = await connection(port)
  const [reading] = await served as [Socket]
  socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(1_000)}\r\n\r\n`.repeat(30_000))
  await arrived(server, 1)
  expect(finish).toHaveLength(1)
  for (let answered = 0; answered < 300; answered++) {
    finish[answered]!()
    while (finish.length === answered + 1) await new Promise((resolve) => setImmediate(resolve))
  }
  expect(finish).toHaveLength(301)
  // of 30 MB, which the system may keep between the two
  expect(reading.bytesRead).toBeLessThan(2_000_000)
  socket.destroy()
})

it("closes a connection with hundreds of requests that wait for an answer, and keeps none of them", async () => {
  const server = createStartupBufferServer()
  const begun: Array<string> = []
  server.on("request", (request) => void begun.push(request.url!))
  const port = await listen(server)
  onTestFinished(() => void server.close())
  const few = await connection(port)
  few.socket.write("GET /few HTTP/1.1\r\nHost: x\r\n\r\n".repeat(400))
  const many = await connection(port)
  many.socket.write("GET /many HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1_000))
  await many.closed
  await opened(server, 1)
  expect(begun.filter((url) => url === "/few")).toHaveLength(1)
  few.socket.destroy()
})

it("closes the oldest connections that do not send the body that they announced, and those that do not read their answer", async () => {
  const server = createStartupBufferServer({ keepAliveTimeout: 600_000 })
  server.maxConnections = 4
  // more than the system keeps for a caller that reads nothing
  const body = Buffer.alloc(60_000_000)
  let large = 0
  server.on("request", (request, response) => {
    if (request.url !== "/large") return void response.end("answered")
    large += 1
    response.end(body)
  })
  const port = await listen(server)
  onTestFinished(() => void server.close())
  const withheld = []
  for (let n = 0; n < 3; n++) {
    const each = await connection(port)
    each.socket.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
    expect(String((await once(each.socket, "data"))[0])).toMatch(/^HTTP\/1.1 200 OK/)
    withheld.push(each)
  }
  await withheld[0]!.closed
  for (const { socket } of withheld) socket.destroy()
  await opened(server, 0)
  vi.spyOn(performance, "now").mockReturnValue(0)
  onTestFinished(() => void vi.restoreAllMocks())
  for (let n = 0; n < 4; n++) {
    const { socket } = await connection(port)
    socket.pause().write("GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
    while (large <= n) await new Promise((resolve) => setImmediate(resolve))
  }
  vi.mocked(performance.now).mockReturnValue(10_000)
  await (await connection(port)).closed
  expect(await (await connection(port)).request()).toBe("HTTP/1.1 200 OK")
})

it.each([
  ["no host", "GET / HTTP/1.1\r\n\r\n", 400, "host_missing"],
  ["an unknown expectation", "POST / HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\nContent-Length: 1\r\n\r\n", 417, "expectation_failed"]
] as const)("answers a request with %s with a problem, and closes the connection", async (_name, request, status, code) => {
  const server = createStartupBufferServer()
  server.on("request", (_request, response) => response.end("reached"))
  const socket = connect(await listen(server), "127.0.0.1")
  socket.write(request)
  const [head, body] = Buffer.concat(await socket.toArray()).toString().split("\r\n\r\n")
  expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  expect(head?.toLowerCase()).toContain("connection: close")
  expect(JSON.parse(body!)).toMatchObject({ status, code })
  server.close()
})

it.each([
  ["at once with it", 0],
  ["while it is answered", 1]
])("answers a whole request before it refuses the bytes behind it, which arrive %s", async (_when, turns) => {
  const server = createStartupBufferServer()
  let finish = () => {}
  server.on("request", (_request, response) => {
    response.writeHead(200, { "content-length": 20 }).write("0123456789")
    finish = () => response.end("abcdefghij")
  })
  const socket = connect(await listen(server), "127.0.0.1")
  const answered = socket.toArray()
  const bytes = ["GET / HTTP/1.1\r\nHost: x\r\n\r\n", "hello\r\n\r\n"]
  for (const part of turns === 0 ? [bytes.join("")] : bytes) {
    socket.write(part)
    await arrived(server, 1)
  }
  finish()
  const [, first, refusal] = Buffer.concat(await answered).toString().split("\r\n\r\n")
  expect([first?.slice(0, 20), first?.slice(20, 32), refusal]).toEqual(["0123456789abcdefghij", "HTTP/1.1 400", expect.stringContaining("malformed_request")])
  server.close()
})

it("ends a connection whose request breaks off while it is answered", async () => {
  const server = createStartupBufferServer()
  server.on("request", (_request, response) => void response.writeHead(200, { "content-length": 20 }).write("0123456789"))
  const socket = connect(await listen(server), "127.0.0.1")
  const answered = socket.on("error", () => {}).toArray().catch(() => [])
  let text = ""
  socket.on("data", (bytes) => void (text += String(bytes)))
  socket.write("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
  await arrived(server, 1)
  socket.write("hello\r\n")
  await answered
  expect(text.split("\r\n\r\n")[1]).toBe("0123456789")
  server.close()
})

it("serves HTTP/1.0 without a host", async () => {
  const server = createStartupBufferServer()
  server.on("request", (_request, response) => response.end("reached"))
  const socket = connect(await listen(server), "127.0.0.1")
  socket.write("GET / HTTP/1.0\r\n\r\n")
  expect(Buffer.concat(await socket.toArray()).toString()).toMatch(/\r\n\r\nreached$/)
  server.close()
})
