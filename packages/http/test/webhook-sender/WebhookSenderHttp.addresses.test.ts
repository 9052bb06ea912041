import { assert, describe, it, vi } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { once } from "node:events"
import { connect } from "node:net"
import { networkInterfaces } from "node:os"
import { Worker } from "node:worker_threads"
import { addressNotAllowed, WebhookSender } from "@waybill/core/delivery"
import { publicOnly } from "../../src/webhook-sender/AddressGuard.ts"
import { makeGuardedConnector } from "../../src/webhook-sender/GuardedConnector.ts"
import { WebhookSenderHttp } from "../../src/webhook-sender/index.ts"
import { closed, closedPort, makeReceiver } from "./Receiver.ts"
import { allowing, loopbackSender, send, summary } from "./Sending.ts"

/** Returns one answer after another, then the last one again, and records the names. */
const resolver = (...answers: ReadonlyArray<ReadonlyArray<string>>) => {
  const asked: Array<string> = []
  const resolve = async (hostname: string) => {
    asked.push(hostname)
    return answers[Math.min(asked.length, answers.length) - 1]!
  }
  return { asked, resolve }
}

/** A receiver that accepts nothing until it is opened: the system then answers when it gets the packet again, a second after the first one. */
const makeSlowReceiver = Effect.gen(function*() {
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const worker = yield* Effect.acquireRelease(Effect.sync(() => new Worker(acceptLater, { eval: true, workerData: gate })), (worker) => Effect.promise(() => worker.terminate()))
  const [port] = yield* Effect.promise(() => once(worker, "message") as Promise<[number]>)
  const others = Array.from({ length: 8 }, () => connect(port, "127.0.0.1").on("error", () => {}))
  yield* Effect.addFinalizer(() => Effect.sync(() => others.forEach((each) => each.destroy())))
  yield* Effect.promise(() => once(others[0]!, "connect"))
  const open = Effect.sync(() => {
    Atomics.store(gate, 0, 1)
    Atomics.notify(gate, 0)
  })
  return { open, port }
})

const acceptLater = `
  const { createServer } = require("node:net")
  const { parentPort, workerData } = require("node:worker_threads")
  const server = createServer((socket) => socket.on("error", () => {}).once("data", () => socket.end("HTTP/1.1 200 OK\\r\\n\\r\\n")))
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
    parentPort.postMessage(server.address().port)
    Atomics.wait(workerData, 0, 0)
  })`

const refused = { _tag: "Failed", failure: "address_not_allowed", detail: addressNotAllowed } as const

describe("WebhookSenderHttp and addresses", () => {
  it.effect("checks the URL of a subscription", Effect.fnUntraced(function*() {
    const { refusal } = yield* WebhookSender
    assert.isUndefined(refusal("https://example.com/hook"))
    assert.isUndefined(refusal("http://127.0.0.1:8080/hook"))
    assert.strictEqual(refusal("https://10.0.0.1/hook"), addressNotAllowed)
  }, Effect.provide(loopbackSender())))

  it.live("checks the whole URL again at every attempt, not only the address", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver()
    const { asked, resolve } = resolver(["127.0.0.1"])
    yield* Effect.gen(function*() {
      for (const url of [`http://receiver.example:${receiver.port}/`, `https://user:secret@receiver.example:${receiver.port}/`, "https://receiver.example:22/", "ftp://receiver.example/", "nonsense"]) {
        assert.deepStrictEqual(yield* send(url), refused)
      }
    }).pipe(Effect.provide(loopbackSender({ resolve })))
    assert.lengthOf(receiver.sockets, 0)
    assert.deepStrictEqual(asked, [])
  }))

  it.live("returns the same outcome whether a refused port is open, closed or silent", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver()
    const { resolve } = resolver(["127.0.0.1"])
    yield* Effect.gen(function*() {
      const outcomes = [yield* send(`https://open.example:${receiver.port}/`), yield* send("https://closed.example:1025/")]
      assert.deepStrictEqual(outcomes, [refused, refused])
    }).pipe(Effect.provide(WebhookSenderHttp.layer({ resolve })))
    assert.lengthOf(receiver.sockets, 0)
  }))

  it.live("does not connect to a literal address that is not allowed, although no name is resolved for it", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver(undefined, { address: "127.0.0.2" })
    const { asked, resolve } = resolver(["127.0.0.1"])
    yield* Effect.gen(function*() {
      assert.deepStrictEqual(yield* send(receiver.url), refused)
    }).pipe(Effect.provide(WebhookSenderHttp.layer({ egress: allowing("127.0.0.1"), resolve })))
    // The connector alone refuses too.
    const connect = makeGuardedConnector({ egress: publicOnly, ca: [], resolve })
    for (const hostname of ["127.0.0.2", "::ffff:127.0.0.2", "::1"]) {
      const failure = yield* Effect.promise(() =>
        new Promise((done) => connect({ hostname, port: receiver.port, secure: false }, done))
      )
      assert.propertyVal(failure, "failure", "address_not_allowed")
    }
    assert.lengthOf(receiver.sockets, 0)
    assert.deepStrictEqual(asked, [])
  }))

  it.live("connects to the checked address and resolves the name once", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver(undefined, { address: "127.0.0.3" })
    const { asked, resolve } = resolver(["127.0.0.3"])
    yield* Effect.gen(function*() {
      const url = `http://receiver.corp.example:${receiver.port}/hook`
      assert.strictEqual(summary(yield* send(url)), "Accepted 200")
      assert.strictEqual(summary(yield* send(url)), "Accepted 200")
    }).pipe(Effect.provide(loopbackSender({ egress: allowing("127.0.0.0/8 *.corp.example"), resolve })))
    assert.deepStrictEqual(asked, ["receiver.corp.example"])
    assert.lengthOf(receiver.sockets, 1)
    assert.include(receiver.requests[0]!.head, `host: receiver.corp.example:${receiver.port}`)
  }))

  const hasIpv6 = Object.values(networkInterfaces()).flat().some((of) => of?.address === "::1")

  it.live.skipIf(!hasIpv6)("sends to a literal IPv6 address that is allowed", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver(undefined, { address: "::1" })
    assert.strictEqual(summary(yield* send(`http://[0:0:0:0:0:0:0:1]:${receiver.port}/`)), "Accepted 200")
    assert.include(receiver.requests[0]!.head, `host: [::1]:${receiver.port}`)
  }, Effect.provide(loopbackSender({ egress: allowing("::1") }))))

  it.live("refuses a name when any of its addresses is not allowed", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver()
    for (const bad of ["10.0.0.1", "169.254.169.254", "::1", "fe80::1%eth0", "::ffff:10.0.0.1", "garbage"]) {
      for (const answer of [["127.0.0.1", bad], [bad, "127.0.0.1"], ["1.1.1.1", "127.0.0.1", bad]]) {
        const outcome = yield* send(`https://receiver.example:${receiver.port}/`).pipe(
          Effect.provide(WebhookSenderHttp.layer({ egress: allowing("127.0.0.1"), resolve: resolver(answer).resolve }))
        )
        assert.deepStrictEqual(outcome, refused)
      }
    }
    assert.lengthOf(receiver.sockets, 0)
  }))

  it.live("tries the next checked address when the first does not answer", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver(undefined, { address: "127.0.0.3" })
    const outcome = yield* send(`http://receiver.corp.example:${receiver.port}/`).pipe(
      Effect.provide(loopbackSender({ egress: allowing("*.corp.example"), resolve: resolver(["127.0.0.2", "127.0.0.3"]).resolve }))
    )
    assert.strictEqual(summary(outcome), "Accepted 200")
  }))

  it.live("does not give up a slow address for one that cannot be reached", Effect.fnUntraced(function*() {
    const { open, port } = yield* makeSlowReceiver
    const outcome = yield* Effect.forkChild(send(`http://receiver.corp.example:${port}/`), { startImmediately: true })
    yield* Effect.andThen(Effect.sleep(500), open)
    assert.strictEqual(summary(yield* Fiber.join(outcome)), "Accepted 200")
  }, Effect.provide(loopbackSender({ egress: allowing("*.corp.example"), resolve: async () => ["127.0.0.1", "::1"] }))))

  for (const [fault, resolve] of Object.entries({
    throws: () => {
      throw new Error("no such name")
    },
    "returns something else": async () => [{ address: "127.0.0.1", family: 4 }] as unknown as ReadonlyArray<string>,
    "returns nothing": async () => undefined as unknown as ReadonlyArray<string>
  })) {
    it.live(`ends the attempt when the host's resolver ${fault}`, Effect.fnUntraced(function*() {
      assert.include(["dns", "address_not_allowed"], summary(yield* send("https://receiver.example/")))
    }, Effect.provide(loopbackSender({ resolve }))))
  }

  it.live("asks the host's resolver again when an earlier question has had no answer for long", Effect.fnUntraced(function*() {
    const asked: Array<string> = []
    const connect = makeGuardedConnector({ egress: publicOnly, ca: [], resolve: (name) => {
      asked.push(name)
      return new Promise(() => {})
    } })
    const open = Effect.acquireRelease(Effect.sync(() => connect({ hostname: "receiver.example", port: 443, secure: false }, () => {})), (socket) => Effect.sync(() => socket.destroy()))
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
    yield* Effect.addFinalizer(() => Effect.sync(() => vi.useRealTimers()))
    yield* open
    yield* open
    assert.lengthOf(asked, 1)
    vi.advanceTimersByTime(10_000)
    yield* open
    assert.lengthOf(asked, 2)
  }))

  it.live("treats a trailing dot and capitals as the same origin", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver()
    const { asked, resolve } = resolver(["127.0.0.1"])
    yield* Effect.gen(function*() {
      for (const host of ["receiver.corp.example", "receiver.corp.example.", "RECEIVER.corp.example", "receiver。corp.example"]) {
        assert.strictEqual(summary(yield* send(`http://${host}:${receiver.port}/`)), "Accepted 200")
      }
    }).pipe(Effect.provide(loopbackSender({ egress: allowing("*.corp.example"), resolve })))
    assert.deepStrictEqual(asked, ["receiver.corp.example"])
    assert.lengthOf(receiver.sockets, 1)
  }))

  it.live("resolves once for connections that open at the same time", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver()
    const { asked, resolve } = resolver(["127.0.0.1"])
    const outcomes = yield* Effect.all(
      Array.from({ length: 20 }, () => send(`http://receiver.corp.example:${receiver.port}/`)),
      { concurrency: "unbounded" }
    ).pipe(Effect.provide(loopbackSender({ egress: allowing("*.corp.example"), resolve })))
    assert.deepStrictEqual([...new Set(outcomes.map(summary))], ["Accepted 200"])
    assert.deepStrictEqual(asked, ["receiver.corp.example"])
  }))

  it.live("fails with connect_refused when nothing listens", Effect.fnUntraced(function*() {
    const port = yield* closedPort
    const outcome = yield* send(`http://127.0.0.1:${port}/`)
    assert.strictEqual(summary(outcome), "connect_refused")
    assert.notMatch(outcome._tag === "Failed" ? outcome.detail : "", /127|ECONN/)
  }, Effect.provide(loopbackSender())))

  it.live("ignores proxy variables of the environment", Effect.fnUntraced(function*() {
    const proxy = yield* makeReceiver()
    const receiver = yield* makeReceiver()
    const names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "NODE_USE_ENV_PROXY"]
    const before = names.map((name) => process.env[name])
    names.forEach((name) => process.env[name] = name === "NODE_USE_ENV_PROXY" ? "1" : `http://127.0.0.1:${proxy.port}`)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() =>
        names.forEach((name, index) => {
          if (before[index] === undefined) delete process.env[name]
          else process.env[name] = before[index]
        })
      )
    )
    assert.strictEqual(summary(yield* send(receiver.url).pipe(Effect.provide(loopbackSender()))), "Accepted 200")
    assert.lengthOf(proxy.sockets, 0)
    yield* closed(receiver.sockets[0]!)
  }))
})
