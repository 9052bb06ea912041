/** Customers are told once a day of an endpoint that fails for long, and of a pause by the service. */
import { assert, describe, it } from "@effect/vitest"
import { EndpointNotices, type Mail, Mailer, MailFailed, NoticeOptions } from "@waybill/core"
import { Receiver, TestWaybill } from "@waybill/testkit"
import { Effect, Layer } from "effect"
import { hook, inEngine, makeEngine } from "../delivery/Engine.ts"
import { untyped } from "../untyped.ts"

/** A mail server that can fail, and the notices of one process over it. */
const makeMail = () => {
  const mails: Array<Mail> = []
  const server = { fails: false }
  const mailer = Layer.succeed(Mailer, {
    sends: true,
    send: (mail) => server.fails ? Effect.fail(new MailFailed({ reason: "The mail server is down." })) : Effect.sync(() => void mails.push(mail))
  })
  const process = <A, E>(use: (notices: EndpointNotices["Service"]) => Effect.Effect<A, E>) => Effect.flatMap(EndpointNotices, use).pipe(Effect.provide(Layer.fresh(EndpointNotices.layer).pipe(Layer.provide(mailer))))
  return { mails, server, process, sweep: process(({ sweep }) => sweep) }
}

describe("notices of failing endpoints", () => {
  it.effect("are sent once a day while an endpoint fails for longer than four hours, by one of several processes", () =>
    inEngine(Effect.gen(function*() {
      const engine = yield* makeEngine({ policy: { maxAttempts: 20, initialBackoffSeconds: 600, maxBackoffSeconds: 3600 } })
      const { mails, process, sweep } = makeMail()
      yield* process((notices) => notices.setContact(engine.customer, { email: "edi@shipper.example" }))
      yield* engine.receivers.script(hook, Receiver.fail(503))
      yield* TestWaybill.run
      yield* engine.publish("A")
      yield* TestWaybill.pass("3 hours")
      assert.strictEqual(yield* sweep, 0)
      yield* TestWaybill.pass("90 minutes")
      const sent = yield* Effect.all(Array.from({ length: 3 }, () => sweep), { concurrency: "unbounded" })
      assert.deepStrictEqual(sent.toSorted(), [0, 0, 1])
      assert.strictEqual(yield* sweep, 0)
      assert.strictEqual(mails[0]!.to, "edi@shipper.example")
      assert.include(mails[0]!.text, `Subscription ${engine.subscription.id}\nEndpoint ${hook}\n`)
      yield* TestWaybill.pass("15 hours")
      yield* engine.publish("B")
      yield* TestWaybill.pass("5 hours")
      assert.strictEqual(yield* sweep, 1)
      assert.notStrictEqual(mails[1]!.id, mails[0]!.id)
    })))

  it.effect("are sent when a delivery has used up its attempts, unless the endpoint accepted another since", () =>
    inEngine(Effect.gen(function*() {
      const engine = yield* makeEngine({ policy: { maxAttempts: 1 } })
      const { mails, process, sweep } = makeMail()
      yield* process((notices) => notices.setContact(engine.customer, { email: "edi@shipper.example" }))
      yield* engine.receivers.script(hook, Receiver.fail(503))
      yield* TestWaybill.run
      yield* engine.publish("A")
      yield* TestWaybill.pass("1 minute")
      yield* engine.receivers.script(hook, Receiver.accept())
      yield* engine.publish("B")
      yield* TestWaybill.pass("1 minute")
      assert.strictEqual(yield* sweep, 0)
      yield* engine.receivers.script(hook, Receiver.fail(503))
      yield* engine.publish("C")
      yield* TestWaybill.pass("1 minute")
      assert.strictEqual(yield* sweep, 1)
      assert.include(mails[0]!.text, "2 dead letters: all attempts failed.")
    })))

  it.effect("say that the service paused a subscription, and why", () =>
    inEngine(Effect.gen(function*() {
      const engine = yield* makeEngine()
      const { mails, process, sweep } = makeMail()
      yield* process((notices) => notices.setContact(engine.customer, { email: "edi@shipper.example" }))
      yield* engine.receivers.script(hook, Receiver.gone)
      yield* TestWaybill.run
      yield* engine.publish("A")
      yield* TestWaybill.pass("1 minute")
      assert.strictEqual(yield* sweep, 1)
      assert.strictEqual(mails[0]!.subject, "Your webhook is paused")
      assert.include(mails[0]!.text, "410")
    })))

  it.effect("are not sent for a pause of the client's own, to a client without an address, or without a mail server", () =>
    inEngine(Effect.gen(function*() {
      const engine = yield* makeEngine()
      const { process, sweep } = makeMail()
      yield* engine.receivers.script(hook, Receiver.gone)
      yield* TestWaybill.run
      yield* engine.publish("A")
      yield* TestWaybill.pass("1 minute")
      assert.strictEqual(yield* sweep, 0)
      yield* process((notices) => notices.setContact(engine.customer, { email: "edi@shipper.example" }))
      const none = yield* EndpointNotices
      assert.deepStrictEqual(yield* none.contact(engine.customer), { email: "edi@shipper.example", sendsMail: false })
      assert.strictEqual(yield* none.sweep, 0)
      yield* engine.patch({ status: "active" })
      yield* engine.patch({ status: "paused" })
      assert.strictEqual(yield* sweep, 0)
    })))

  it.effect("are tried again after the mail server failed", () =>
    inEngine(Effect.gen(function*() {
      const engine = yield* makeEngine()
      const { mails, process, server, sweep } = makeMail()
      yield* process((notices) => notices.setContact(engine.customer, { email: "edi@shipper.example" }))
      yield* engine.receivers.script(hook, Receiver.gone)
      yield* TestWaybill.run
      yield* engine.publish("A")
      yield* TestWaybill.pass("1 minute")
      server.fails = true
      assert.strictEqual(yield* sweep, 0)
      server.fails = false
      assert.strictEqual(yield* sweep, 1)
      assert.strictEqual(mails.length, 1)
    })))

  it.effect("take one plain address, and nothing that could be a second header or recipient", () =>
    inEngine(Effect.gen(function*() {
      const engine = yield* makeEngine()
      const { process } = makeMail()
      for (const email of ["", "edi", "a@b", "a@b.example, c@d.example", "a@b.example\nBcc: x@y.example", "<a@b.example>", "a b@c.example", `a@${"b".repeat(260)}.example`]) {
        const refused = yield* Effect.flip(process((notices) => notices.setContact(engine.customer, untyped({ email }))))
        assert.strictEqual(refused._tag, "InvalidInput")
      }
      assert.strictEqual((yield* process((notices) => notices.setContact(engine.customer, { email: null }))).email, null)
      assert.isAtLeast(NoticeOptions.defaultValue().failingAfterMillis, 3_600_000)
    })))
})
