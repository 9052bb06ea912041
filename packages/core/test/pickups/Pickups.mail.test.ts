/** The answer to a pickup request is also sent to its `confirmationEmail`. */
import { assert, describe, it } from "@effect/vitest"
import { type Mail, Mailer, MailOutbox } from "@waybill/core"
import { PickupDesk, pickupMailsPerMinute } from "@waybill/core/pickups"
import { pickupRequest, type PickupOverrides, TestWaybill } from "@waybill/testkit"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { type Desk, layerWith, makeDesk, setup } from "./Desk.ts"

const to = "dock@closets.example"
const alsoSent = "This answer is also sent to confirmationEmail."

const makeMails = () => {
  const mails: Array<Mail> = []
  return { mails, mailer: Layer.succeed(Mailer, { sends: true, send: (mail) => Effect.sync(() => void mails.push(mail)) }) }
}

/** Sends what waits, and returns all mails since the last call. */
const sent = (mails: Array<Mail>) => Effect.map(Effect.flatMap(MailOutbox, (outbox) => outbox.sweep), () => mails.splice(0))

const withMail = (parts: PickupOverrides = {}): PickupOverrides => ({ ...parts, more: { confirmationEmail: to } })

const inService = (run: (mails: Array<Mail>) => Effect.Effect<void, unknown, Layer.Success<ReturnType<typeof layerWith>>>, desk: Desk = makeDesk()) => {
  const { mailer, mails } = makeMails()
  return run(mails).pipe(Effect.provide(layerWith(desk).pipe(Layer.provide(mailer))))
}

describe("confirmationEmail of a pickup (SPEC-GAP-C33)", () => {
  it.effect("gets the answer to the order, to each change, and the cancellation", () => {
    const desk = makeDesk(() => ({ decision: "accept", carrierPickupNumber: "77", carrierName: "Way Freight", scac: "WAYB", messages: ["Dock 3."] }))
    return inService((mails) =>
      Effect.gen(function*() {
        const { order, pickups, shipper } = yield* setup
        assert.deepStrictEqual((yield* order(withMail())).pickupMessage, ["Dock 3.", alsoSent])
        const [ordered, ...more] = yield* sent(mails)
        assert.deepStrictEqual(more, [])
        assert.strictEqual(ordered!.to, to)
        assert.strictEqual(ordered!.subject, "Pickup 77: Accept")
        assert.include(ordered!.text, "carrierPickupNumber: 77\nCarrier: Way Freight, WAYB\nDock 3.\n")
        const change = pickupRequest({ number: "77", more: { confirmationEmail: to, trailerNumber: "T9" } })
        assert.include((yield* pickups.update(shipper, "77", change))[0]!.pickupMessage, alsoSent)
        assert.deepStrictEqual((yield* pickups.update(shipper, "77", change))[0]!.pickupMessage, [])
        desk.decide = () => ({ decision: "reject", messages: ["No truck."] })
        yield* pickups.update(shipper, "77", pickupRequest({ number: "77", more: { confirmationEmail: "office@closets.example", trailerNumber: "T10" } }))
        const changes = yield* sent(mails)
        assert.deepStrictEqual(changes.map((mail) => [mail.to, mail.subject]), [[to, "Pickup 77: Accept"], ["office@closets.example", "Pickup request: Reject"]])
        for (let n = 0; n < 2; n++) yield* pickups.cancel(shipper, "77")
        const cancelled = yield* sent(mails)
        assert.deepStrictEqual(cancelled.map((mail) => [mail.to, mail.subject]), [[to, "Pickup 77: cancelled"]])
        assert.strictEqual(new Set([ordered!, ...changes, ...cancelled].map(({ id }) => id)).size, 4)
      }), desk)
  })

  it.effect("gets the carrier's decision when the call no longer waits for it", () => {
    const { mailer, mails } = makeMails()
    return Effect.gen(function*() {
      const { carrier, order, pickups } = yield* setup
      const call = yield* Effect.forkChild(order(withMail()))
      yield* TestClock.adjust("21 seconds")
      const answer = yield* Fiber.join(call)
      assert.strictEqual(answer.pickupMessage.at(-1), "The decision is also sent to confirmationEmail.")
      assert.deepStrictEqual(yield* sent(mails), [])
      const pickupId = /request (\S+)\.$/.exec(answer.pickupMessage[0]!)![1]!
      yield* pickups.decide(carrier, pickupId, { decision: "accept", confirmationNumber: "C-1", message: "Gate 4" })
      assert.deepStrictEqual((yield* sent(mails)).map((mail) => [mail.to, mail.subject]), [[to, "Pickup C-1: Accept"]])
    }).pipe(Effect.provide(TestWaybill.layer().pipe(Layer.provide(Layer.succeed(PickupDesk, { waitMillis: 20_000 })), Layer.provide(mailer))))
  })

  it.effect("gets one mail for an order that is repeated under its key, and none for an order that was not stored", () => {
    const desk = makeDesk()
    return inService((mails) =>
      Effect.gen(function*() {
        const { order } = yield* setup
        const first = yield* order(withMail(), "key")
        assert.deepStrictEqual(yield* order(withMail(), "key"), first)
        desk.decide = () => {
          throw new Error("dispatch is down")
        }
        yield* Effect.flip(order(withMail({ pro: "2" })))
        assert.strictEqual((yield* sent(mails)).length, 1)
      }), desk)
  })

  it.effect("gets nothing that the shipper wrote, and nothing unless it is one address", () =>
    inService((mails) =>
      Effect.gen(function*() {
        const { order } = yield* setup
        for (const refused of ["dock", "a@b.example, c@d.example", "a@b.example\nBcc: x@y.example", "<a@b.example>"]) {
          const answered = yield* Effect.exit(order({ more: { confirmationEmail: refused } }))
          if (answered._tag === "Success") assert.include(answered.value.pickupMessage, "No e-mail is sent: confirmationEmail is not one e-mail address. This answer is the confirmation.")
        }
        assert.deepStrictEqual(yield* sent(mails), [])
        yield* order(withMail({ shipment: { shipperRef: "BUY NOW" } }))
        assert.notInclude(JSON.stringify(yield* sent(mails)), "BUY NOW")
      })))

  it.effect("gets a bounded number of mails of a client in a minute, and the answer says when it gets none", () =>
    inService((mails) =>
      Effect.gen(function*() {
        const { order } = yield* setup
        for (let n = 0; n < pickupMailsPerMinute; n++) yield* order(withMail())
        assert.include((yield* order(withMail())).pickupMessage, "No e-mail is sent to confirmationEmail. This answer is the confirmation.")
        yield* TestClock.adjust("61 seconds")
        assert.include((yield* order(withMail())).pickupMessage, alsoSent)
        assert.strictEqual((yield* sent(mails)).length, pickupMailsPerMinute + 1)
      })))

  it.effect("gets mails about tests that say so", () =>
    inService((mails) =>
      Effect.gen(function*() {
        const { order } = yield* setup
        const { carrierPickupNumber } = yield* order(withMail({ isTest: true }))
        assert.deepStrictEqual((yield* sent(mails)).map(({ subject }) => subject), [`Test pickup ${carrierPickupNumber}: Accept`])
      })))
})
