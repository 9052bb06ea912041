import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Socket } from "node:net"
import type { TLSSocket } from "node:tls"
import { addressNotAllowed, WebhookSender } from "@waybill/core/delivery"
import { makeCertificate, startHostileReceiver } from "@waybill/conformance/hostile"
import { endAfterwards } from "../endAfterwards.ts"
import { makeGuardedConnector } from "../../src/webhook-sender/GuardedConnector.ts"
import { WebhookSenderHttp } from "../../src/webhook-sender/index.ts"
import { closedPort, makeReceiver } from "./Receiver.ts"
import { allowing, loopbackSender, send, shortDeadline, summary } from "./Sending.ts"

const hostile = await startHostileReceiver({ behaviours: [] })
endAfterwards(() => hostile.stop())

const refused = { _tag: "Failed", failure: "address_not_allowed", detail: addressNotAllowed } as const

describe("WebhookSenderHttp with an empty egress policy", () => {
  it.live("refuses every hostile URL at the subscription and at the attempt, and resolves no name", Effect.fnUntraced(function*() {
    const { asked, resolve } = hostile.resolver()
    yield* Effect.gen(function*() {
      const { refusal } = yield* WebhookSender
      assert.isAbove(hostile.urls.length, 100)
      for (const { name, url } of hostile.urls) {
        assert.isString(refusal(url), name)
        assert.deepStrictEqual(yield* send(url), refused, name)
      }
    }).pipe(Effect.provide(WebhookSenderHttp.layer({ resolve })))
    assert.deepStrictEqual(asked, [])
    assert.strictEqual(hostile.inside.connections(), 0)
  }))
})

describe("WebhookSenderHttp that may reach 127.0.0.1 only", () => {
  const expected: Readonly<Record<string, readonly [first: string, second: string]>> = {
    "rebinding": ["Accepted 200", "address_not_allowed"],
    "inside": ["address_not_allowed", "address_not_allowed"],
    "outside-and-inside": ["address_not_allowed", "address_not_allowed"],
    "inside-and-outside": ["address_not_allowed", "address_not_allowed"],
    "inside-among-many": ["address_not_allowed", "address_not_allowed"],
    "mapped": ["address_not_allowed", "address_not_allowed"],
    "loopback-6": ["address_not_allowed", "address_not_allowed"],
    "zone": ["address_not_allowed", "address_not_allowed"],
    "this-host": ["address_not_allowed", "address_not_allowed"],
    "metadata": ["address_not_allowed", "address_not_allowed"],
    "nat64": ["address_not_allowed", "address_not_allowed"],
    "no-address": ["address_not_allowed", "address_not_allowed"],
    "nowhere": ["dns", "dns"],
    "unknown": ["dns", "dns"],
    "unanswered": ["connect_timeout", "connect_timeout"]
  }

  it("has an expected outcome for every name", () => assert.deepStrictEqual(hostile.names.map(({ name }) => name), Object.keys(expected)))

  for (const [name, summaries] of Object.entries(expected)) {
    it.live(`connects to the checked address of ${name}, or fails`, Effect.fnUntraced(function*() {
      const { asked, resolve } = hostile.resolver()
      yield* Effect.gen(function*() {
        const url = hostile.nameUrl(hostile.names.find((each) => each.name === name)!)
        const request = name === "unanswered" ? shortDeadline : {}
        for (const wanted of summaries) {
          const outcome = yield* send(url, request)
          assert.strictEqual(summary(outcome), wanted)
          if (wanted === "address_not_allowed") assert.deepStrictEqual(outcome, refused)
        }
      }).pipe(Effect.provide(loopbackSender({ egress: allowing("127.0.0.1"), ca: [hostile.ca], resolve })))
      // Once per connection: the checked address is the one connected to; a pending lookup is not repeated.
      assert.lengthOf(asked, name === "unanswered" ? 1 : 2)
      assert.strictEqual(hostile.inside.connections(), 0)
    }))
  }
})

describe("GuardedConnector", () => {
  it.live("tries a few of a thousand addresses, of both families", Effect.fnUntraced(function*() {
    const port = yield* closedPort
    const many = Array.from({ length: 1000 }, (_, n) => `127.1.${n >> 8}.${n & 255}`)
    const connect = makeGuardedConnector({
      egress: allowing("127.0.0.0/8 ::1"),
      ca: [],
      resolve: async () => [...many, "::1"]
    })
    const tried: Array<string> = []
    const failure = yield* Effect.callback<unknown>((resume) => {
      const socket = connect({ hostname: "crowd.example", port, secure: false }, (failure) => resume(Effect.succeed(failure)))
      socket.on("connectionAttempt", (address: string) => tried.push(address))
    })
    assert.propertyVal(failure, "failure", "connect_refused")
    assert.deepStrictEqual([...tried].sort(), ["127.1.0.0", "127.1.0.1", "127.1.0.2", "127.1.0.3", "::1"])
  }))

  it.live("checks all of a thousand addresses, although it tries only a few", Effect.fnUntraced(function*() {
    const many = Array.from({ length: 1000 }, () => "127.0.0.1")
    const outcome = yield* send("https://crowd.example/").pipe(
      Effect.provide(loopbackSender({ egress: allowing("127.0.0.1"), resolve: async () => [...many, "10.0.0.1"] }))
    )
    assert.deepStrictEqual(outcome, refused)
  }))

  it.live("caches no TLS session that is larger than usual", Effect.fnUntraced(function*() {
    const hosts = ["receiver.example", ...Array.from({ length: 1500 }, (_, n) => `receiver-${n}.example`)]
    for (const [names, resumed] of [[hosts.slice(0, 2), [false, true]], [hosts, [false, false]]] as const) {
      const certificate = makeCertificate({ name: "receiver", hosts: names })
      const reused: Array<boolean> = []
      const receiver = yield* makeReceiver(({ socket }: { readonly socket: Socket }) => {
        reused.push((socket as TLSSocket).isSessionReused())
        socket.end("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
      }, { tls: { ...certificate, maxVersion: "TLSv1.2" } })
      const url = `https://receiver.example:${receiver.port}/`
      yield* Effect.gen(function*() {
        for (let n = 0; n < 2; n++) assert.strictEqual(summary(yield* send(url)), "Accepted 200")
      }).pipe(Effect.provide(loopbackSender({ ca: [certificate.cert], resolve: async () => ["127.0.0.1"] })))
      assert.deepStrictEqual(reused, [...resumed])
    }
  }))
})
