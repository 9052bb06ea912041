import type { AttemptOutcome } from "@waybill/core/delivery"
import { assert, describe, it, vi } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import type { Socket } from "node:net"
import { sendWebhook, WebhookSender } from "@waybill/core/delivery"
import { Attempt } from "../../src/webhook-sender/Attempt.ts"
import { Connections } from "../../src/webhook-sender/Connections.ts"
import { makeGuardedConnector } from "../../src/webhook-sender/GuardedConnector.ts"
import { closed, makeReceiver, ok } from "./Receiver.ts"
import { allowing, loopbackSender, send, shortDeadline, summary } from "./Sending.ts"

/** Holds all responses until `release`. */
const holding = Effect.gen(function*() {
  const held: Array<Socket> = []
  let released = false
  let most = 0
  const receiver = yield* makeReceiver(({ socket }) => {
    if (released) return ok(socket)
    held.push(socket)
    most = Math.max(most, held.length)
  })
  const release = Effect.sync(() => {
    released = true
    for (const socket of held.splice(0)) ok(socket)
  })
  return { receiver, release, most: () => most }
})

describe("WebhookSenderHttp and its connections", () => {
  it.live("sends many requests at once, each over its own connection up to the limit", Effect.fnUntraced(function*() {
    let inFlight = 0
    let most = 0
    const receiver = yield* makeReceiver(({ socket }) => {
      most = Math.max(most, ++inFlight)
      setImmediate(() => {
        inFlight--
        ok(socket)
      })
    })
    const outcomes = yield* Effect.all(Array.from({ length: 2000 }, () => send(receiver.url)), { concurrency: "unbounded" })
    assert.deepStrictEqual([...new Set(outcomes.map(summary))], ["Accepted 200"])
    assert.lengthOf(receiver.requests, 2000)
    assert.lengthOf(receiver.sockets, 16)
    assert.isAtMost(most, 16)
  }, Effect.provide(loopbackSender({ requestsPerOrigin: 16 }))))

  it.live("sends to many receivers at once", Effect.fnUntraced(function*() {
    const receivers = yield* Effect.all(Array.from({ length: 20 }, () => makeReceiver()))
    const outcomes = yield* Effect.all(
      Array.from({ length: 400 }, (_, index) => send(receivers[index % 20]!.url)),
      { concurrency: "unbounded" }
    )
    assert.deepStrictEqual([...new Set(outcomes.map(summary))], ["Accepted 200"])
    for (const receiver of receivers) assert.lengthOf(receiver.requests, 20)
  }, Effect.provide(loopbackSender())))

  it.live("reuses a connection, and opens a new one when the receiver closed it", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver()
    for (let index = 0; index < 5; index++) yield* send(receiver.url)
    assert.lengthOf(receiver.sockets, 1)
    receiver.sockets[0]!.end()
    yield* closed(receiver.sockets[0]!)
    assert.strictEqual(summary(yield* send(receiver.url)), "Accepted 200")
    assert.lengthOf(receiver.sockets, 2)
  }, Effect.provide(loopbackSender())))

  it.live("closes a connection older than a minute after its request, so that DNS changes take effect", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver()
    const start = performance.now()
    const now = vi.spyOn(performance, "now")
    yield* Effect.addFinalizer(() => Effect.sync(() => now.mockRestore()))
    const busy = Array.from({ length: 20 }, (_, n) => [3 * n, 1] as const)
    for (const [seconds, sockets] of [...busy, [59, 1], [61, 1], [62, 2], [63, 2]] as const) {
      now.mockReturnValue(start + seconds * 1000)
      assert.strictEqual(summary(yield* send(receiver.url)), "Accepted 200")
      assert.lengthOf(receiver.sockets, sockets, `after ${seconds} s`)
    }
    yield* closed(receiver.sockets[0]!)
  }, Effect.provide(loopbackSender())))

  it.live("closes a connection that was idle for four seconds, or until two seconds before the receiver does", Effect.fnUntraced(function*() {
    const start = performance.now()
    const now = vi.spyOn(performance, "now")
    yield* Effect.addFinalizer(() => Effect.sync(() => now.mockRestore()))
    for (const [header, seconds, sockets] of [["x: y", 3.9, 1], ["x: y", 4.1, 2], ["keep-alive: timeout=20", 17.9, 1], ["keep-alive: timeout=20", 18.1, 2], ["keep-alive: timeout=999", 30.1, 2], ["keep-alive: timeout=2", 0, 2]] as const) {
      const receiver = yield* makeReceiver(({ socket }) => socket.write(`HTTP/1.1 200 OK\r\n${header}\r\ncontent-length: 0\r\n\r\n`))
      now.mockReturnValue(start)
      yield* send(receiver.url)
      now.mockReturnValue(start + seconds * 1000)
      yield* send(receiver.url)
      assert.lengthOf(receiver.sockets, sockets, `${header}, ${seconds}`)
    }
  }, Effect.provide(loopbackSender())))

  it.live("reuses the most recent connection, so that the others can close", Effect.fnUntraced(function*() {
    const { receiver, release } = yield* holding
    const burst = yield* Effect.all(Array.from({ length: 5 }, () => Effect.forkChild(send(receiver.url))))
    while (receiver.requests.length < 5) yield* Effect.yieldNow
    yield* release
    yield* Fiber.joinAll(burst)
    const sockets = new Set<Socket>()
    for (let index = 0; index < 5; index++) {
      yield* send(receiver.url)
      sockets.add(receiver.requests.at(-1)!.socket)
    }
    assert.strictEqual(sockets.size, 1)
  }, Effect.provide(loopbackSender())))

  it.live("counts the wait for a free connection, and never sends an expired request", Effect.fnUntraced(function*() {
    const { receiver, release } = yield* holding
    const first = yield* Effect.forkChild(send(receiver.url))
    yield* receiver.received
    const outcomes = yield* Effect.all(Array.from({ length: 10 }, () => send(receiver.url, shortDeadline)), { concurrency: "unbounded" })
    assert.deepStrictEqual([...new Set(outcomes.map(summary))], ["timeout"])
    yield* release
    assert.strictEqual(summary(yield* Fiber.join(first)), "Accepted 200")
    assert.strictEqual(summary(yield* send(receiver.url)), "Accepted 200")
    assert.lengthOf(receiver.requests, 2)
  }, Effect.provide(loopbackSender({ requestsPerOrigin: 1 }))))

  it.live("gives the slot of a timed-out attempt to the next one", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver(({ socket }, index) => {
      if (index > 0) ok(socket)
    })
    const [stuck, next] = yield* Effect.all([send(receiver.url, shortDeadline), send(receiver.url)], { concurrency: 2 })
    assert.deepStrictEqual([summary(stuck), summary(next)], ["timeout", "Accepted 200"])
    assert.lengthOf(receiver.sockets, 2)
  }, Effect.provide(loopbackSender({ requestsPerOrigin: 1 }))))

  it.live("gives the slot of a failed connection to the next attempt", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver(undefined, { silent: true })
    const url = `https://127.0.0.1:${receiver.port}/`
    const outcomes = yield* Effect.all(
      [send(url, shortDeadline), send(url, { deadlineMillis: 1000 }), send(url, { deadlineMillis: 100 })],
      { concurrency: 3 }
    )
    assert.deepStrictEqual(outcomes.map(summary), ["connect_timeout", "connect_timeout", "timeout"])
    assert.lengthOf(receiver.sockets, 2)
  }, Effect.provide(loopbackSender({ requestsPerOrigin: 1 }))))

  it.live("does not let the hanging requests of one client hold up another client at the same origin", Effect.fnUntraced(function*() {
    const { receiver, release } = yield* holding
    const stuck = yield* Effect.all(Array.from({ length: 50 }, () => Effect.forkChild(send(receiver.url))))
    while (receiver.requests.length < 4) yield* Effect.yieldNow
    const other = yield* Effect.forkChild(send(receiver.url, { owner: "other" }))
    while (receiver.requests.length < 5) yield* Effect.yieldNow
    assert.strictEqual(new Set(receiver.requests.map(({ socket }) => socket)).size, 5)
    yield* Fiber.interruptAll(stuck)
    yield* release
    assert.strictEqual(summary(yield* Fiber.join(other)), "Accepted 200")
  }, Effect.provide(loopbackSender({ requestsPerOrigin: 4 }))))

  it.live("sends the requests of all clients over the idle connections of an origin", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver()
    for (const owner of ["acme", "other", "third"]) assert.strictEqual(summary(yield* send(receiver.url, { owner })), "Accepted 200")
    assert.lengthOf(receiver.sockets, 1)
  }, Effect.provide(loopbackSender())))

  it.live("does not let a hanging receiver block another", Effect.fnUntraced(function*() {
    const { receiver } = yield* holding
    const other = yield* makeReceiver()
    const stuck = yield* Effect.all(Array.from({ length: 50 }, () => Effect.forkChild(send(receiver.url))))
    yield* receiver.received
    for (let index = 0; index < 20; index++) assert.strictEqual(summary(yield* send(other.url)), "Accepted 200")
    yield* Fiber.interruptAll(stuck)
  }, Effect.provide(loopbackSender({ requestsPerOrigin: 4 }))))

  it.live("closes the connections of the origin that was idle longest", Effect.fnUntraced(function*() {
    const receivers = yield* Effect.all(Array.from({ length: 3 }, () => makeReceiver()))
    for (const { url } of receivers) yield* send(url)
    yield* closed(receivers[0]!.sockets[0]!)
    yield* send(receivers[1]!.url)
    assert.lengthOf(receivers[1]!.sockets, 1)
    assert.strictEqual(summary(yield* send(receivers[0]!.url)), "Accepted 200")
    yield* closed(receivers[2]!.sockets[0]!)
  }, Effect.provide(loopbackSender({ origins: 2 }))))

  it.live("does not close connections in use to make room", Effect.fnUntraced(function*() {
    const { receiver, release } = yield* holding
    const first = yield* Effect.forkChild(send(receiver.url))
    yield* receiver.received
    const others = yield* Effect.all(Array.from({ length: 3 }, () => makeReceiver()))
    for (const { url } of others) assert.strictEqual(summary(yield* send(url)), "Accepted 200")
    yield* release
    assert.strictEqual(summary(yield* Fiber.join(first)), "Accepted 200")
  }, Effect.provide(loopbackSender({ origins: 1 }))))

  it.live("aborts the request when the fiber is interrupted", Effect.fnUntraced(function*() {
    const { receiver } = yield* holding
    const fiber = yield* Effect.forkChild(send(receiver.url))
    const { socket } = yield* receiver.received
    yield* Fiber.interrupt(fiber)
    yield* closed(socket)
  }, Effect.provide(loopbackSender())))

  it.live("aborts connecting when the fiber is interrupted", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver(undefined, { silent: true })
    const fiber = yield* Effect.forkChild(send(`https://127.0.0.1:${receiver.port}/`))
    const socket = yield* receiver.connected
    yield* Fiber.interrupt(fiber)
    yield* closed(socket.resume())
  }, Effect.provide(loopbackSender())))

  it.live("never sends a request that was interrupted while it waited", Effect.fnUntraced(function*() {
    const { receiver, release } = yield* holding
    const first = yield* Effect.forkChild(send(receiver.url))
    yield* receiver.received
    const waiting = yield* Effect.forkChild(send(receiver.url))
    yield* Effect.yieldNow
    yield* Fiber.interrupt(waiting)
    yield* release
    yield* Fiber.join(first)
    yield* send(receiver.url)
    assert.lengthOf(receiver.requests, 2)
  }, Effect.provide(loopbackSender({ requestsPerOrigin: 1 }))))

  it.live("ends everything with Interrupted when its layer closes, and sends nothing afterwards", Effect.fnUntraced(function*() {
    const { receiver } = yield* holding
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(loopbackSender({ requestsPerOrigin: 2 }), scope)
    const sender = Context.get(context, WebhookSender)
    const request = { owner: "acme", url: receiver.url, headers: {}, body: [new Uint8Array(3)], deadlineMillis: 10_000 }
    const sending = yield* Effect.forkChild(Effect.all(Array.from({ length: 5 }, () => sendWebhook(sender, request)), { concurrency: "unbounded" }))
    while (receiver.requests.length < 2) yield* Effect.yieldNow
    yield* Scope.close(scope, Exit.void)
    assert.deepStrictEqual((yield* Fiber.join(sending)).map(summary), Array(5).fill("Interrupted"))
    assert.strictEqual(summary(yield* sendWebhook(sender, request)), "Interrupted")
    for (const socket of receiver.sockets) yield* closed(socket)
    assert.lengthOf(receiver.requests, 2)
  }))

  it.live("leaves no timer behind", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver()
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length
    yield* send(receiver.url)
    const before = timers()
    yield* Effect.all(Array.from({ length: 100 }, () => send(receiver.url, { deadlineMillis: 3_600_000 })), { concurrency: "unbounded" })
    assert.isAtMost(timers() - before, 5)
  }, Effect.provide(loopbackSender({ requestsPerOrigin: 1 }))))

  it.live("forgets an origin when its last connection has closed", Effect.fnUntraced(function*() {
    const { connections, address, post, receiver } = yield* anOrigin
    const origin = connections.origin(address)
    yield* post
    assert.strictEqual(connections.origin(address), origin)
    receiver.sockets[0]!.end()
    while (connections.origin(address) === origin) yield* Effect.yieldNow
    assert.isTrue(origin.isIdle)
  }))

  it.live("keeps an origin whose only connection was too old for the next request", Effect.fnUntraced(function*() {
    const { connections, address, post, receiver } = yield* anOrigin
    const origin = connections.origin(address)
    yield* post
    const now = vi.spyOn(performance, "now").mockReturnValue(performance.now() + 5_000)
    yield* Effect.addFinalizer(() => Effect.sync(() => now.mockRestore()))
    yield* post
    assert.lengthOf(receiver.sockets, 2)
    assert.strictEqual(connections.origin(address), origin)
  }))

  it.live("survives invalid deadlines", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver()
    for (const deadlineMillis of [2 ** 40, Infinity]) assert.strictEqual(summary(yield* send(receiver.url, { deadlineMillis })), "Accepted 200")
    for (const deadlineMillis of [0, -5, NaN]) {
      assert.include(["Accepted 200", "timeout", "connect_timeout"], summary(yield* send(receiver.url, { deadlineMillis })))
    }
  }, Effect.provide(loopbackSender())))
})

const anOrigin = Effect.gen(function*() {
  const receiver = yield* makeReceiver()
  const connect = makeGuardedConnector({ egress: allowing("127.0.0.0/8"), ca: [], resolve: async () => [] })
  const connections = yield* Effect.acquireRelease(
    Effect.sync(() => new Connections({ connect, perOwner: 4, origins: 4 })),
    (connections) => Effect.promise(() => connections.close())
  )
  const address = { key: `http://127.0.0.1:${receiver.port}`, hostname: "127.0.0.1", port: receiver.port, secure: false }
  const post = Effect.callback<AttemptOutcome>((resume) => {
    const origin = connections.origin(address)
    const settle = (outcome: AttemptOutcome) => resume(Effect.succeed(outcome))
    origin.submit(new Attempt({ origin, owner: "acme", head: "POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n", body: [], bodyBytes: 0, deadlineMillis: 10_000, nowMillis: () => 0, settle }))
  })
  return { receiver, connections, address, post }
})
