/** E-mails are sent at least once, by one process at a time, and not for longer than a day. */
import { assert, describe, it } from "@effect/vitest"
import { type Mail, Mailer, MailFailed, MailOutbox, MailStore, StorageError } from "@waybill/core"
import { TestWaybill } from "@waybill/testkit"
import { Effect, Fiber, Layer, Logger, Metric } from "effect"
import { TestClock } from "effect/testing"

const client = "key:shipper"

const mail: Mail = { id: "a.1", to: "edi@shipper.example", subject: "Subject", text: "Text\n" }

/** A mail server and processes that send to it. */
const makeServer = () => {
  const mails: Array<Mail> = []
  const server = { answer: Effect.void as Effect.Effect<void, MailFailed> }
  const mailer = Layer.succeed(Mailer, { sends: true, send: (sent) => Effect.tap(server.answer, () => Effect.sync(() => void mails.push(sent))) })
  const process = <A, E>(use: (outbox: MailOutbox["Service"]) => Effect.Effect<A, E>) =>
    Effect.flatMap(MailOutbox, use).pipe(Effect.provide(Layer.fresh(MailOutbox.layer).pipe(Layer.provide(mailer))))
  return { mails, server, process, sweep: process((outbox) => outbox.sweep) }
}

const within = <A, E, R extends Layer.Success<ReturnType<typeof TestWaybill.layer>>>(effect: Effect.Effect<A, E, R>) => effect.pipe(Effect.provide(TestWaybill.layer()))

const fails = Effect.fail(new MailFailed({ reason: "the mail server is down." }))

describe("the outbox of e-mails", () => {
  it.effect("sends a mail once, also with several processes", Effect.fnUntraced(function*() {
    yield* TestWaybill.tenant("acme")
    const { mails, process, sweep } = makeServer()
    assert.isTrue(yield* process((outbox) => outbox.put("acme", client, mail)))
    assert.deepStrictEqual((yield* Effect.all([sweep, sweep, sweep], { concurrency: "unbounded" })).toSorted(), [0, 0, 1])
    assert.deepStrictEqual(mails, [mail])
    yield* TestClock.adjust("1 day")
    assert.strictEqual(yield* sweep, 0)
  }, within))

  it.effect("tries again after one, two, four minutes and so on, and removes a mail that failed for a day", Effect.fnUntraced(function*() {
    yield* TestWaybill.tenant("acme")
    const { mails, process, server, sweep } = makeServer()
    yield* process((outbox) => outbox.put("acme", client, mail))
    let attempts = 0
    server.answer = Effect.andThen(Effect.sync(() => void attempts++), fails)
    const attemptsAfter = (time: "59 seconds" | "1 second" | "2 minutes") => Effect.andThen(TestClock.adjust(time), Effect.map(sweep, () => attempts))
    assert.strictEqual(yield* Effect.map(sweep, () => attempts), 1)
    assert.strictEqual(yield* attemptsAfter("59 seconds"), 1)
    assert.strictEqual(yield* attemptsAfter("1 second"), 2)
    assert.strictEqual(yield* attemptsAfter("59 seconds"), 2)
    assert.strictEqual(yield* attemptsAfter("2 minutes"), 3)
    for (let hour = 0; hour < 24; hour++) {
      yield* TestClock.adjust("1 hour")
      yield* sweep
    }
    const tried = attempts
    server.answer = Effect.void
    yield* TestClock.adjust("1 day")
    assert.strictEqual(yield* sweep, 0)
    assert.strictEqual(attempts, tried)
    assert.deepStrictEqual(mails, [])
  }, within))

  it.effect("sends a mail again ten minutes after a process was killed while it sent it", Effect.fnUntraced(function*() {
    yield* TestWaybill.tenant("acme")
    const { mails, process, server, sweep } = makeServer()
    yield* process((outbox) => outbox.put("acme", client, mail))
    server.answer = Effect.never
    const killed = yield* Effect.forkChild(sweep)
    yield* TestClock.adjust("1 second")
    yield* Fiber.interrupt(killed)
    server.answer = Effect.void
    assert.strictEqual(yield* sweep, 0)
    yield* TestClock.adjust("10 minutes")
    assert.strictEqual(yield* sweep, 1)
    assert.deepStrictEqual(mails, [mail])
  }, within))

  // the sweep that finds such a mail lets it wait once more for as long as its time was set ahead
  for (const { fate, pause } of [{ fate: "put", pause: 0 }, { fate: "postponed", pause: 60_000 }, { fate: "taken by a process that was killed", pause: 600_000 }]) {
    it.effect(`sends a mail that was ${fate} before the store's clock was set back by hours`, Effect.fnUntraced(function*() {
      yield* TestWaybill.tenant("acme")
      const { mails, process, server, sweep } = makeServer()
      yield* TestClock.setTime(Date.UTC(2026, 0, 1, 3))
      yield* process((outbox) => outbox.put("acme", client, mail))
      server.answer = fate === "postponed" ? fails : Effect.never
      if (fate !== "put") {
        const sweeping = yield* Effect.forkChild(sweep)
        yield* TestClock.adjust("1 second")
        yield* Fiber.interrupt(sweeping)
      }
      server.answer = Effect.void
      yield* TestClock.setTime(Date.UTC(2026, 0, 1))
      assert.strictEqual(yield* sweep, 0)
      if (fate !== "put") {
        yield* TestClock.adjust(pause - 1)
        assert.strictEqual(yield* sweep, 0)
        yield* TestClock.adjust(1)
      }
      assert.strictEqual(yield* sweep, 1)
      assert.deepStrictEqual(mails, [mail])
    }, within))
  }

  it.effect("gives up on a mail server that does not answer, and goes on with other mails", Effect.fnUntraced(function*() {
    yield* TestWaybill.tenant("acme")
    const { mails, process, server, sweep } = makeServer()
    yield* process((outbox) => outbox.put("acme", client, mail))
    yield* process((outbox) => outbox.put("acme", client, { ...mail, id: "a.2" }))
    server.answer = Effect.suspend(() => {
      server.answer = Effect.void
      return Effect.never
    })
    const sweeping = yield* Effect.forkChild(sweep)
    yield* TestClock.adjust("61 seconds")
    assert.strictEqual(yield* Fiber.join(sweeping), 1)
    yield* TestClock.adjust("2 minutes")
    assert.strictEqual(yield* sweep, 1)
    assert.deepStrictEqual(mails.map(({ id }) => id).toSorted(), ["a.1", "a.2"])
  }, within))

  it.effect("counts attempts by outcome, so that an alert can fire while a mail server refuses all of them", Effect.fnUntraced(function*() {
    yield* TestWaybill.tenant("acme")
    const { process, server, sweep } = makeServer()
    const attempts = Effect.map(Metric.snapshot, (metrics) =>
      Object.fromEntries(metrics.flatMap((metric) =>
        metric.type === "Counter" && metric.id === "waybill_mail_attempts_total" ? [[metric.attributes?.["outcome"], metric.state.count]] : [])))
    yield* process((outbox) => outbox.put("acme", client, mail))
    server.answer = fails
    yield* sweep
    assert.deepStrictEqual(yield* attempts, { failed: 1 })
    server.answer = Effect.void
    yield* TestClock.adjust("1 minute")
    yield* sweep
    assert.deepStrictEqual(yield* attempts, { failed: 1, accepted: 1 })
  }, within, Effect.provideService(Metric.MetricRegistry, new Map())))

  it.effect("logs ten of the mails in a minute that a mail server refuses, and then their number", Effect.fnUntraced(function*() {
    yield* TestWaybill.tenant("acme")
    const { process, server } = makeServer()
    const logged: Array<string> = []
    const logger = Logger.make(({ message }) => void logged.push([message].flat().join(" ")))
    server.answer = fails
    yield* process((outbox) =>
      Effect.gen(function*() {
        yield* Effect.forEach(Array.from({ length: 30 }), (_, n) => outbox.put("acme", client, { ...mail, id: `a.${n}` }))
        yield* outbox.sweep
        assert.deepStrictEqual(logged.map((line) => line.slice(0, 20)), Array.from({ length: 10 }, () => "E-mail was not sent."))
        yield* TestClock.adjust("1 minute")
        yield* outbox.sweep
        assert.strictEqual(logged[10], "Log line repeated 20 more times in one minute.")
      })
    ).pipe(Effect.provide(Logger.layer([logger])))
  }, within))

  it.effect("lets tenants take turns, so that one with many mails does not hold up another", Effect.fnUntraced(function*() {
    const tenants = ["busy-1", "busy-2", "busy-3", "busy-4", "quiet"]
    const { mails, process, sweep } = makeServer()
    for (const tenantId of tenants) {
      yield* TestWaybill.tenant(tenantId)
      const ids = Array.from({ length: tenantId === "quiet" ? 1 : 50 }, (_, n) => `${tenantId} ${n}`)
      yield* process((outbox) => Effect.forEach(ids, (id) => outbox.put(tenantId, client, { ...mail, id })))
    }
    assert.strictEqual(yield* sweep, 201)
    assert.isBelow(mails.findIndex(({ id }) => id === "quiet 0"), 40)
  }, within))

  it.effect("sends the mails of other tenants while those of a hundred cannot be read", Effect.fnUntraced(function*() {
    const { mails, process } = makeServer()
    const broken = Array.from({ length: 100 }, (_, n) => `broken-${n}`)
    for (const tenantId of [...broken, "healthy"]) yield* TestWaybill.tenant(tenantId)
    yield* process((outbox) => Effect.forEach([...broken, "healthy"], (tenantId) => outbox.put(tenantId, client, mail)))
    const failing = Layer.effect(MailStore, Effect.map(MailStore, (store) => MailStore.of({
      ...store,
      take: (tenantId, ...rest) => tenantId.startsWith("broken") ? Effect.fail(new StorageError({ operation: "MailStore.take", cause: "broken" })) : store.take(tenantId, ...rest)
    })))
    const error = yield* process((outbox) => Effect.flip(outbox.sweep)).pipe(Effect.provide(failing))
    assert.strictEqual(error.cause, "broken")
    assert.lengthOf(mails, 1)
  }, Effect.provide(Logger.layer([])), within))

  it.effect("keeps nothing without a mail server", Effect.fnUntraced(function*() {
    yield* TestWaybill.tenant("acme")
    const outbox = yield* MailOutbox
    assert.isFalse(outbox.sends)
    assert.isFalse(yield* outbox.put("acme", client, mail))
    assert.deepStrictEqual(yield* (yield* MailStore).take("acme", 5, 0), [])
  }, within))
})
