import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { constants } from "node:crypto"
import type { TLSSocket } from "node:tls"
import { makeCertificate } from "@waybill/conformance/hostile"
import type { WebhookSenderHttpOptions } from "../../src/webhook-sender/index.ts"
import { makeReceiver, ok } from "./Receiver.ts"
import { loopbackSender, send, summary } from "./Sending.ts"

const authority = makeCertificate({ name: "Test authority" })
const good = makeCertificate({ name: "receiver", hosts: ["receiver.example", "127.0.0.1"], issuer: authority })

/** A sender that trusts the test authority and resolves every name to loopback. */
const trusting = (options: WebhookSenderHttpOptions = {}) =>
  loopbackSender({ ca: [authority.cert], resolve: async () => ["127.0.0.1"], ...options })

describe("WebhookSenderHttp and TLS", () => {
  it.live("accepts a custom authority's certificate for the name, and sends the name (SNI)", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver(undefined, { tls: good })
    assert.strictEqual(summary(yield* send(`https://receiver.example:${receiver.port}/`)), "Accepted 200")
    assert.propertyVal(receiver.requests[0]!.socket as TLSSocket, "servername", "receiver.example")
    assert.propertyVal(receiver.requests[0]!.socket as TLSSocket, "alpnProtocol", false)
  }, Effect.provide(trusting())))

  it.live("sends every body whole when many are encrypted at once", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver(undefined, { tls: good })
    const plain = yield* makeReceiver()
    const sizes = Array.from({ length: 300 }, (_, n) => n * 97 % 17_000)
    for (let round = 0; round < 2; round++) {
      const outcomes = yield* Effect.forEach(sizes, (size, n) =>
        send(n % 3 === 0 ? plain.url : receiver.url, { headers: { "webhook-id": String(n) }, body: [`${n}[`, new Uint8Array(size).fill(n), "]"] }), { concurrency: "unbounded" })
      assert.deepStrictEqual(new Set(outcomes.map(summary)), new Set(["Accepted 200"]))
    }
    for (const { body, head } of [...receiver.requests, ...plain.requests]) {
      const n = Number(/webhook-id: (\d+)/.exec(head)![1])
      assert.isTrue(body.equals(Buffer.concat([Buffer.from(`${n}[`), Buffer.alloc(sizes[n]!, n), Buffer.from("]")])), `${sizes[n]} bytes`)
    }
    assert.lengthOf([...receiver.requests, ...plain.requests], 2 * sizes.length)
  }, Effect.provide(trusting())))

  it.live("accepts a certificate for a literal address", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver(undefined, { tls: good })
    assert.strictEqual(summary(yield* send(receiver.url)), "Accepted 200")
  }, Effect.provide(trusting())))

  it.live("speaks HTTP/1.1 even to a server that prefers HTTP/2", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver(undefined, { tls: { ...good, ALPNProtocols: ["h2", "http/1.1"] } })
    assert.strictEqual(summary(yield* send(`https://receiver.example:${receiver.port}/`)), "Accepted 200")
    assert.propertyVal(receiver.requests[0]!.socket as TLSSocket, "alpnProtocol", "http/1.1")
  }, Effect.provide(trusting())))

  it.live("verifies the name although the address is pinned", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver(undefined, { tls: good })
    assert.strictEqual(summary(yield* send(`https://other.example:${receiver.port}/`)), "tls")
    assert.lengthOf(receiver.requests, 0)
  }, Effect.provide(trusting())))

  it.live("verifies the name again when an earlier connection to the same server was fine", Effect.fnUntraced(function*() {
    const reused: Array<boolean> = []
    const receiver = yield* makeReceiver(({ socket }) => {
      reused.push((socket as TLSSocket).isSessionReused())
      socket.end("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
    }, { tls: { ...good, maxVersion: "TLSv1.2" } })
    for (const [name, expected] of [["receiver", "Accepted 200"], ["other", "tls"], ["receiver", "Accepted 200"], ["other", "tls"]]) {
      assert.strictEqual(summary(yield* send(`https://${name}.example:${receiver.port}/`)), expected)
    }
    // The second valid connection resumed the session of the first.
    assert.deepStrictEqual(reused, [false, true])
  }, Effect.provide(trusting())))

  it.live("begins a new session after one with which the receiver failed", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver(({ socket }) => socket.end("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"), {
      tls: { ...good, maxVersion: "TLSv1.2", secureOptions: constants.SSL_OP_NO_TICKET },
      resumesNone: true
    })
    for (const expected of ["Accepted 200", "tls", "Accepted 200"]) assert.strictEqual(summary(yield* send(receiver.url)), expected)
  }, Effect.provide(trusting())))

  it.live("refuses self-signed, expired and unknown authorities' certificates", Effect.fnUntraced(function*() {
    const hosts = ["receiver.example"]
    const stranger = makeCertificate({ name: "Somebody else" })
    const impostor = makeCertificate({ name: authority.name })
    const certificates = {
      DEPTH_ZERO_SELF_SIGNED_CERT: makeCertificate({ name: "receiver", hosts }),
      CERT_HAS_EXPIRED: makeCertificate({ name: "receiver", hosts, issuer: authority, valid: "before" }),
      UNABLE_TO_VERIFY_LEAF_SIGNATURE: makeCertificate({ name: "receiver", hosts, issuer: stranger }),
      CERT_SIGNATURE_FAILURE: makeCertificate({ name: "receiver", hosts, issuer: impostor }),
      ERR_TLS_CERT_ALTNAME_INVALID: makeCertificate({ name: "receiver", hosts: ["other.example"], issuer: authority })
    }
    for (const [fault, tls] of Object.entries(certificates)) {
      const receiver = yield* makeReceiver(undefined, { tls })
      const outcome = yield* send(`https://receiver.example:${receiver.port}/`)
      assert.deepStrictEqual(outcome, {
        _tag: "Failed",
        failure: "tls",
        detail: `No secure connection: check the receiver's certificate and TLS settings (${fault}).`
      })
      assert.lengthOf(receiver.requests, 0, fault)
    }
  }, Effect.provide(trusting())))

  it.live("says what the receiver's TLS does not accept", Effect.fnUntraced(function*() {
    const wishes = {
      ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: { ...good, ALPNProtocols: ["h2"] },
      "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE": { ...good, requestCert: true, rejectUnauthorized: true, maxVersion: "TLSv1.2" as const },
      ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: { ...good, requestCert: true, rejectUnauthorized: true }
    }
    for (const [fault, tls] of Object.entries(wishes)) {
      const receiver = yield* makeReceiver(undefined, { tls })
      assert.deepStrictEqual(yield* send(`https://receiver.example:${receiver.port}/`), {
        _tag: "Failed",
        failure: "tls",
        detail: `No secure connection: check the receiver's certificate and TLS settings (${fault}).`
      })
      assert.lengthOf(receiver.requests, 0, fault)
    }
  }, Effect.provide(trusting())))

  it.live("trusts no custom authority unless configured", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver(undefined, { tls: good })
    assert.strictEqual(summary(yield* send(receiver.url)), "tls")
  }, Effect.provide(loopbackSender())))

  it.live("keeps verifying when the environment disables it", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver(undefined, { tls: good })
    const before = process.env["NODE_TLS_REJECT_UNAUTHORIZED"]
    const emitWarning = process.emitWarning
    process.emitWarning = () => {}
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0"
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        process.emitWarning = emitWarning
        if (before === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"]
        else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before
      })
    )
    assert.strictEqual(summary(yield* send(receiver.url).pipe(Effect.provide(loopbackSender()))), "tls")
    assert.lengthOf(receiver.requests, 0)
  }))

  it.live("refuses TLS 1.1", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver(undefined, { tls: { ...good, minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } })
    assert.strictEqual(summary(yield* send(receiver.url)), "tls")
  }, Effect.provide(trusting())))

  it.live("recovers as soon as the certificate is renewed", Effect.fnUntraced(function*() {
    const port = yield* Effect.scoped(Effect.gen(function*() {
      const receiver = yield* makeReceiver(undefined, { tls: makeCertificate({ name: "receiver", hosts: ["receiver.example"], issuer: authority, valid: "before" }) })
      assert.strictEqual(summary(yield* send(`https://receiver.example:${receiver.port}/`)), "tls")
      return receiver.port
    }))
    yield* makeReceiver(({ socket }) => ok(socket), { tls: good, port })
    assert.strictEqual(summary(yield* send(`https://receiver.example:${port}/`)), "Accepted 200")
  }, Effect.provide(trusting())))
})
