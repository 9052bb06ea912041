/** Customers are told once a day of an endpoint that fails for long, and of a pause by the service. */
import { assert, describe, it } from "@effect/vitest"
import { EndpointNotices, type Mail, Mailer, MailOutbox, mailsPerTenant, MailStore, type NoticeContact, NoticeOptions, Subscriptions } from "@waybill/core"
import { DeliveryControl, DeliveryQueue } from "@waybill/core/delivery"
import { Receiver, TestWaybill } from "@waybill/testkit"
import { Effect, Layer } from "effect"
import { hook, inEngine, makeEngine } from "../delivery/Engine.ts"
import { untyped } from "../untyped.ts"

const noticeUrl = "https://notices.example/hook"

const webhook = { endpointUrl: noticeUrl, hmacSecretId: "main" }

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

/** Searches of deliveries that end at the first one that does not match. */
const shortSearches = Layer.effect(DeliveryQueue, Effect.map(DeliveryQueue, (queue) =>
  DeliveryQueue.of({ ...queue, list: (tenantId, query) => queue.list(tenantId, { ...query, passOver: 1 }) })))

/** A mail server, and the notices of one process over it. */
const makeMail = (queue = Layer.effect(DeliveryQueue, DeliveryQueue), control = Layer.effect(DeliveryControl, DeliveryControl)) => {
  const mails: Array<Mail> = []
  const mailer = Layer.succeed(Mailer, {
    sends: true,
    send: (mail) => Effect.sync(() => void mails.push(mail))
  })
  const services = Layer.provideMerge(Layer.fresh(EndpointNotices.layer), Layer.fresh(MailOutbox.layer)).pipe(Layer.provide([mailer, queue, control]))
  const process = <A, E>(use: (notices: EndpointNotices["Service"]) => Effect.Effect<A, E>) => Effect.flatMap(EndpointNotices, use).pipe(Effect.provide(services))
  const post = Effect.flatMap(MailOutbox, (outbox) => outbox.sweep).pipe(Effect.provide(services))
  const sweep = Effect.tap(process((notices) => notices.sweep), () => post)
  return { mails, process, post, sweep }
}

/** An engine, and the notices of one process for its customer, which has an e-mail address. */
const makeNotices = Effect.fnUntraced(function*(options?: Parameters<typeof makeEngine>[0], ...ports: Parameters<typeof makeMail>) {
  const engine = yield* makeEngine(options)
  const mail = makeMail(...ports)
  yield* mail.process((notices) => notices.setContact(engine.customer, { email: "edi@shipper.example" }))
  return { engine, ...mail }
})

/** The endpoint answers 410, so the service pauses the subscription. */
const pausedByGone = Effect.fnUntraced(function*({ publish, receivers }: Effect.Success<ReturnType<typeof makeEngine>>) {
  yield* receivers.script(hook, Receiver.gone)
  yield* TestWaybill.run
  yield* publish("A")
  yield* TestWaybill.pass("1 minute")
})

describe("notices of failing endpoints", () => {
  it.effect("are sent once a day while an endpoint fails for longer than four hours, by one of several processes", Effect.fnUntraced(function*() {
    const { engine, mails, sweep } = yield* makeNotices({ policy: { maxAttempts: 20, initialBackoffSeconds: 600, maxBackoffSeconds: 3600 } })
    yield* engine.receivers.script(hook, Receiver.fail(503))
    yield* TestWaybill.run
    yield* engine.publish("A")
    yield* TestWaybill.pass("3 hours")
    assert.strictEqual(yield* sweep, 0)
    yield* TestWaybill.pass("90 minutes")
    assert.deepStrictEqual((yield* Effect.all(Array.from({ length: 3 }, () => sweep), { concurrency: "unbounded" })).toSorted(), [0, 0, 1])
    assert.strictEqual(yield* sweep, 0)
    assert.strictEqual(mails[0]!.to, "edi@shipper.example")
    assert.include(mails[0]!.text, `Subscription ${engine.subscription.id}\nEndpoint ${hook}\n`)
    yield* TestWaybill.pass("15 hours")
    yield* engine.publish("B")
    yield* TestWaybill.pass("5 hours")
    assert.strictEqual(yield* sweep, 1)
    assert.notStrictEqual(mails[1]!.id, mails[0]!.id)
  }, inEngine))

  it.effect("are not sent early by a process whose clock is hours ahead of the store's", Effect.fnUntraced(function*() {
    const behind = Layer.effect(DeliveryControl, Effect.map(DeliveryControl, (control) =>
      DeliveryControl.of({ ...control, troubles: Effect.map(control.troubles, (troubles) => ({ ...troubles, now: troubles.now - 7_200_000 })) })))
    const { engine, sweep } = yield* makeNotices({ policy: { maxAttempts: 20, initialBackoffSeconds: 600, maxBackoffSeconds: 3600 } }, undefined, behind)
    yield* engine.receivers.script(hook, Receiver.fail(503))
    yield* TestWaybill.run
    yield* engine.publish("A")
    yield* TestWaybill.pass("5 hours")
    assert.strictEqual(yield* sweep, 0)
    yield* TestWaybill.pass("2 hours")
    assert.strictEqual(yield* sweep, 1)
  }, inEngine))

  it.effect("are sent when a delivery has used up its attempts, unless the endpoint accepted another since", Effect.fnUntraced(function*() {
    const { engine, mails, sweep } = yield* makeNotices({ policy: { maxAttempts: 1 } })
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
  }, inEngine))

  it.effect("say that the service paused a subscription, and why", Effect.fnUntraced(function*() {
    const { engine, mails, sweep } = yield* makeNotices()
    yield* pausedByGone(engine)
    assert.strictEqual(yield* sweep, 1)
    assert.strictEqual(mails[0]!.subject, "Your webhook is paused")
    assert.include(mails[0]!.text, "410")
  }, inEngine))

  it.effect("are not sent for a pause of the client's own, to a client without an address, or without a mail server", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    const { process, sweep } = makeMail()
    yield* pausedByGone(engine)
    assert.strictEqual(yield* sweep, 0)
    yield* process((notices) => notices.setContact(engine.customer, { email: "edi@shipper.example" }))
    const none = yield* EndpointNotices
    assert.deepStrictEqual(yield* none.contact(engine.customer), { email: "edi@shipper.example", emailKinds: null, sendsMail: false, webhook: null, webhookKinds: null })
    assert.strictEqual(yield* none.sweep, 0)
    yield* engine.patch({ status: "active" })
    yield* engine.patch({ status: "paused" })
    assert.strictEqual(yield* sweep, 0)
  }, inEngine))

  it.effect("are sent later when too many mails wait at first", Effect.fnUntraced(function*() {
    const { engine, mails, sweep } = yield* makeNotices()
    const store = yield* MailStore
    yield* pausedByGone(engine)
    const { client, tenantId } = engine.customer
    yield* Effect.forEach(Array.from({ length: mailsPerTenant / 2 }, (_, n) => `other.${n}`), (id) => store.put(tenantId, client, { id, to: "other@shipper.example", subject: "Subject", text: "Text" }), { discard: true })
    assert.strictEqual(yield* sweep, 0)
    assert.strictEqual(yield* sweep, 1)
    assert.strictEqual(mails.at(-1)!.subject, "Your webhook is paused")
  }, inEngine))

  it.effect("say before the last attempt when it is made, and what follows", Effect.fnUntraced(function*() {
    const { engine, mails, sweep } = yield* makeNotices({}, shortSearches)
    yield* TestWaybill.run
    // delivered, and passed over by the search for the oldest that waits
    yield* engine.publish("before")
    yield* TestWaybill.pass("1 second")
    yield* engine.receivers.script(hook, Receiver.fail(503))
    yield* engine.publish("A")
    yield* TestWaybill.pass("5 minutes")
    assert.strictEqual(yield* sweep, 0)
    yield* TestWaybill.pass("40 minutes")
    assert.strictEqual(yield* sweep, 1)
    assert.strictEqual(mails[0]!.subject, "Your webhook fails: attempts end soon")
    const [, told] = /last attempt of the oldest delivery is at about (\S+)\. If it fails, the delivery ends as a dead letter\./.exec(mails[0]!.text) ?? []
    yield* TestWaybill.pass("3 hours")
    const [dead] = yield* engine.list({ state: "dead" })
    assert.approximately(Date.parse(dead!.attempts.at(-1)!.at), Date.parse(told!), 20 * 60_000)
    assert.strictEqual(yield* sweep, 1)
    assert.strictEqual(mails[1]!.subject, "Your webhook has dead letters")
    assert.strictEqual(yield* sweep, 0)
  }, inEngine))

  it.effect("say how many deliveries wait for a retry, and how many entries wait for those", Effect.fnUntraced(function*() {
    const { engine, mails, sweep } = yield* makeNotices({ policy: { maxAttempts: 40, initialBackoffSeconds: 600, maxBackoffSeconds: 3600 } })
    yield* engine.receivers.script(hook, Receiver.fail(503))
    yield* TestWaybill.run
    for (const shipment of ["A", "B", "C"]) {
      yield* engine.publish(shipment)
      yield* TestWaybill.pass("1 second")
    }
    yield* TestWaybill.pass("5 hours")
    yield* engine.publish("A")
    yield* TestWaybill.pass("1 second")
    assert.strictEqual(yield* sweep, 1)
    assert.match(mails[0]!.text, /\n3 deliveries are being sent or wait for the next attempt\.\n1 entry waits to be sent, the oldest since /)
  }, inEngine))

  it.effect("count the attempts since a manual retry", Effect.fnUntraced(function*() {
    const { engine, sweep } = yield* makeNotices({ policy: { maxAttempts: 7, initialBackoffSeconds: 1500, maxBackoffSeconds: 1500 } })
    yield* engine.receivers.script(hook, Receiver.fail(503))
    yield* TestWaybill.run
    yield* engine.publish("A")
    yield* TestWaybill.pass("170 minutes")
    const [dead] = yield* engine.list({ state: "dead" })
    yield* engine.deliveries.retry(engine.tenant.tenantId, dead!.deliveryId)
    yield* TestWaybill.pass("5 minutes")
    assert.strictEqual(yield* sweep, 0)
    yield* TestWaybill.pass("50 minutes")
    assert.strictEqual(yield* sweep, 1)
  }, inEngine))

  it.effect("are sent by another process when the one that claimed a notice was killed before it sent the mail", Effect.fnUntraced(function*() {
    const { engine, mails, post, process } = yield* makeNotices()
    yield* pausedByGone(engine)
    assert.strictEqual(yield* process((notices) => notices.sweep), 1)
    assert.strictEqual(mails.length, 0)
    yield* post
    assert.strictEqual(mails.length, 1)
  }, inEngine))

  it.effect("are claimed again when their mail could not be stored", Effect.fnUntraced(function*() {
    const { engine, mails, sweep } = yield* makeNotices()
    yield* pausedByGone(engine)
    const failing = Layer.mock(MailOutbox, { sends: true, put: () => Effect.die("the process is killed") })
    yield* Effect.exit(Effect.flatMap(EndpointNotices, (notices) => notices.sweep).pipe(Effect.provide(Layer.provide(Layer.fresh(EndpointNotices.layer), failing))))
    assert.strictEqual(yield* sweep, 1)
    assert.strictEqual(mails.length, 1)
  }, inEngine))

  it.effect("go to the customer's webhook, signed and retried like other deliveries, in the order of a subscription", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    const { mails, process, sweep } = makeMail()
    yield* process((notices) => notices.setContact(engine.customer, { email: null, webhook }))
    yield* engine.receivers.script(hook, Receiver.fail(503))
    yield* engine.receivers.script(noticeUrl, [Receiver.fail(503), Receiver.accept()])
    yield* TestWaybill.run
    yield* engine.publish("A")
    yield* TestWaybill.pass("45 minutes")
    assert.strictEqual(yield* sweep, 1)
    assert.strictEqual(yield* sweep, 0)
    yield* TestWaybill.pass("1 minute")
    const [first, second, ...more] = yield* engine.receivers.requests(noticeUrl)
    assert.deepStrictEqual(more, [])
    assert.deepStrictEqual(first!.body, second!.body)
    assert.strictEqual(first!.headers["webhook-id"], second!.headers["webhook-id"])
    assert.isDefined(second!.headers["webhook-signature"])
    const told = JSON.parse(textOf(second!.body))
    assert.deepStrictEqual(
      { type: told.type, subscriptionId: told.subscriptionId, area: told.area, endpointUrl: told.endpointUrl, inFlight: told.inFlight, waiting: told.waiting, deadLetters: told.deadLetters, afterLastAttempt: told.afterLastAttempt },
      { type: "notice.ending", subscriptionId: engine.subscription.id, area: "transit-events", endpointUrl: hook, inFlight: 1, waiting: 0, deadLetters: 0, afterLastAttempt: "dead_letter" }
    )
    yield* TestWaybill.pass("3 hours")
    assert.strictEqual(yield* sweep, 1)
    yield* TestWaybill.pass("1 minute")
    const last = (yield* engine.receivers.requests(noticeUrl)).at(-1)!
    assert.strictEqual(JSON.parse(textOf(last.body)).type, "notice.dead_letter")
    assert.deepStrictEqual(mails, [])
  }, inEngine))

  it.effect("are those of the kinds that a customer chose, by e-mail and by webhook", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine({ policy: { maxAttempts: 1 } })
    const { mails, process, sweep } = makeMail()
    const put = (contact: typeof NoticeContact.Encoded) => process((notices) => notices.setContact(engine.customer, contact))
    yield* put({ email: "edi@shipper.example", emailKinds: ["paused"], webhook, webhookKinds: ["dead_letter", "paused"] })
    yield* engine.receivers.script(hook, [Receiver.fail(503), Receiver.gone])
    yield* TestWaybill.run
    yield* engine.publish("A")
    yield* TestWaybill.pass("1 minute")
    assert.strictEqual(yield* sweep, 1)
    yield* TestWaybill.pass("1 minute")
    assert.deepStrictEqual(mails, [])
    assert.deepStrictEqual((yield* put({ email: "edi@shipper.example", webhookKinds: ["failing"] })).emailKinds, ["paused"])
    yield* engine.publish("B")
    yield* TestWaybill.pass("1 minute")
    assert.strictEqual(yield* sweep, 1)
    yield* TestWaybill.pass("1 minute")
    assert.deepStrictEqual(mails.map(({ subject }) => subject), ["Your webhook is paused"])
    assert.deepStrictEqual((yield* engine.receivers.requests(noticeUrl)).map(({ body }) => JSON.parse(textOf(body)).type), ["notice.dead_letter"])
    const all = yield* put({ email: null, emailKinds: null, webhookKinds: null })
    assert.deepStrictEqual([all.emailKinds, all.webhookKinds], [null, null])
    for (const kinds of [[], ["paused", "paused"], ["dead"]]) {
      assert.strictEqual((yield* Effect.flip(process((notices) => notices.setContact(engine.customer, untyped({ email: null, webhookKinds: kinds })))))._tag, "InvalidInput")
    }
  }, inEngine))

  it.effect("never go to the endpoint that fails, and tell by e-mail when the webhook for notices fails", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    const { mails, process, sweep } = makeMail()
    yield* process((notices) => notices.setContact(engine.customer, { email: null, webhook: { ...webhook, endpointUrl: hook } }))
    yield* pausedByGone(engine)
    assert.strictEqual(yield* sweep, 0)
    const { webhook: changed } = yield* process((notices) => notices.setContact(engine.customer, { email: "edi@shipper.example", webhook }))
    yield* engine.receivers.script(noticeUrl, Receiver.gone)
    assert.strictEqual(yield* sweep, 1)
    yield* TestWaybill.pass("1 minute")
    assert.strictEqual(yield* sweep, 1)
    assert.deepStrictEqual(mails.map(({ text }) => /Subscription (\S+)/.exec(text)![1]), [engine.subscription.id, changed!.subscriptionId])
    yield* TestWaybill.pass("1 minute")
    assert.strictEqual((yield* engine.receivers.requests(noticeUrl)).length, 1)
  }, inEngine))

  it.effect("have a webhook that stays until it is replaced or ended, and is deleted like any subscription", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    const { process } = makeMail()
    const subscriptions = yield* Subscriptions
    const put = (contact: typeof NoticeContact.Encoded) => process((notices) => notices.setContact(engine.customer, contact))
    const first = yield* put({ email: null, webhook })
    assert.deepInclude(first.webhook!, webhook)
    assert.deepStrictEqual(yield* put({ email: "edi@shipper.example" }), { ...first, email: "edi@shipper.example" })
    assert.deepStrictEqual((yield* put({ email: null, webhook })).webhook, first.webhook)
    const second = yield* put({ email: null, webhook: { ...webhook, endpointUrl: `${noticeUrl}/2` } })
    assert.notStrictEqual(second.webhook!.subscriptionId, first.webhook!.subscriptionId)
    const { data } = yield* subscriptions.list(engine.tenant.tenantId)
    assert.deepStrictEqual(data.map(({ area, subscriptionId }) => [area, subscriptionId]).slice(1), [["notices", second.webhook!.subscriptionId]])
    yield* subscriptions.remove(engine.tenant.tenantId, second.webhook!.subscriptionId)
    assert.isNull((yield* process((notices) => notices.contact(engine.customer))).webhook)
    yield* put({ email: null, webhook })
    assert.isNull((yield* put({ email: null, webhook: null })).webhook)
    assert.strictEqual((yield* subscriptions.list(engine.tenant.tenantId)).data.length, 1)
  }, inEngine))

  it.effect("refuse a webhook at an address that is not allowed or with a secret of another client", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    const { process } = makeMail()
    for (const [member, refused] of [["endpointUrl", { ...webhook, endpointUrl: "http://notices.example/hook" }], ["hmacSecretId", { ...webhook, hmacSecretId: "unknown" }]] as const) {
      const error = yield* Effect.flip(process((notices) => notices.setContact(engine.customer, { email: null, webhook: refused })))
      assert.strictEqual(error._tag, "InvalidInput")
      if (error._tag === "InvalidInput") assert.deepStrictEqual(error.faults.map(({ pointer }) => pointer), [`/webhook/${member}`])
    }
    assert.isNull((yield* process((notices) => notices.contact(engine.customer))).webhook)
  }, inEngine))

  it.effect("take one plain address, and nothing that could be a second header or recipient", Effect.fnUntraced(function*() {
    const engine = yield* makeEngine()
    const { process } = makeMail()
    for (const email of ["", "edi", "a@b", "a@b.example, c@d.example", "a@b.example\nBcc: x@y.example", "<a@b.example>", "a b@c.example", `a@${"b".repeat(260)}.example`]) {
      const refused = yield* Effect.flip(process((notices) => notices.setContact(engine.customer, untyped({ email }))))
      assert.strictEqual(refused._tag, "InvalidInput")
    }
    assert.strictEqual((yield* process((notices) => notices.setContact(engine.customer, { email: null }))).email, null)
    assert.isAtLeast(NoticeOptions.defaultValue().failingAfterMillis, 3_600_000)
  }, inEngine))
})
