/** Requirements for a receiver, each with the deliveries that test it. */
import { randomBytes } from "node:crypto"
import type { DeliveryKind } from "./SampleDeliveries.ts"
import { type Answer, answerText, type Headers, isRefused, isTaken, type SampleDelivery, type Receiver } from "./Receiver.ts"

export interface Finding {
  readonly met: boolean
  /** The observation, and what to do if the requirement is not met. */
  readonly detail: string
  readonly answers: ReadonlyArray<Answer>
}

export interface Requirement {
  /** Stable identifier. */
  readonly id: string
  /** The requirement in one sentence. */
  readonly sentence: string
  /** Kinds of deliveries that it applies to; default: all. */
  readonly kinds?: ReadonlyArray<DeliveryKind>
  readonly find: (receiver: Receiver) => Promise<Finding>
}

const finding = (met: boolean, todo: string, answers: ReadonlyArray<Answer>): Finding => ({
  met,
  detail: `${answers.map(answerText).join(", then ")}${met ? "" : `. ${todo}`}`,
  answers
})

/** Expects that every delivery was accepted. */
const taken = (todo: string, ...answers: ReadonlyArray<Answer>): Finding => finding(answers.every(isTaken), todo, answers)

const refused = (todo: string, answer: Answer): Finding =>
  finding(isRefused(answer), isTaken(answer) ? todo : "It failed instead of refusing it. Answer 401, so that an error of the receiver is distinguishable from a refusal.", [answer])

const unknownSecret = (): string => `whsec_${randomBytes(32).toString("base64")}`

const secondsAgo = (seconds: number): Date => new Date(Date.now() - seconds * 1000)

const verifyAll = "Without verification, anyone who knows the address can send false events. Verify webhook-signature over the id, the time and the raw body, and answer 401 when it does not match."

const forged = (make: (receiver: Receiver, delivery: SampleDelivery) => Promise<{ readonly headers: Headers; readonly body?: Uint8Array }>, todo = verifyAll) =>
async (receiver: Receiver): Promise<Finding> => {
  const delivery = receiver.single()
  const { body = delivery.body, headers } = await make(receiver, delivery)
  return refused(todo, await receiver.post(body, headers))
}

const fiveMinutes = "Compare webhook-timestamp with your clock, and refuse a difference of more than five minutes, or a copy stays valid forever."

const requirement = (id: string, sentence: string, find: Requirement["find"], kinds?: ReadonlyArray<DeliveryKind>): Requirement =>
  ({ id, sentence, find, ...(kinds === undefined ? {} : { kinds }) })

export const requirements: ReadonlyArray<Requirement> = [
  requirement("good", "accepts a signed delivery", async (receiver) =>
    taken("Answer 2xx. Check the secret, and verify the raw body before it is parsed.", await receiver.deliver(receiver.single()))),
  // Not for shipment status, where one notification is one delivery.
  requirement("good-batch", "accepts several events of several shipments in one delivery", async (receiver) => {
    const [one, other] = [receiver.newShipment(), receiver.newShipment()]
    const events = [1, 2, 3].flatMap((sequence) => [{ shipmentId: one, sequence }, { shipmentId: other, sequence }])
    return taken("Read every member of the list, not only the first.", await receiver.deliver(receiver.deliveryOf(events)))
  }, ["transit-events", "freight-charges", "pickups"]),
  requirement("rotation", "accepts a delivery with a signature of an unknown secret before its own", async (receiver) => {
    const delivery = receiver.single()
    const [unknown, own] = [await receiver.sign(delivery, { secrets: [unknownSecret()] }), await receiver.sign(delivery)]
    const both = { ...own, "webhook-signature": `${unknown["webhook-signature"]} ${own["webhook-signature"]}` }
    return taken("While a secret is rotated, webhook-signature has several signatures, separated by spaces: one valid signature is enough.", await receiver.post(delivery.body, both))
  }),
  requirement("unsigned", "refuses a delivery without a signature", forged(async (receiver, delivery) => {
    const { "webhook-signature": _, ...headers } = await receiver.sign(delivery)
    return { headers }
  })),
  requirement("no-headers", "refuses a delivery without one of the three headers", forged(async () => ({ headers: {} }))),
  requirement("wrong-signature", "refuses a delivery that another secret signed", forged(async (receiver, delivery) => ({ headers: await receiver.sign(delivery, { secrets: [unknownSecret()] }) }))),
  requirement("other-body", "refuses a body that was changed after it was signed", forged(async (receiver, delivery) => ({
    headers: await receiver.sign(delivery),
    body: new TextEncoder().encode(new TextDecoder().decode(delivery.body).replace("Chicago", "Houston"))
  }))),
  requirement("other-id", "refuses a signature that was made for another delivery id", forged(async (receiver, delivery) => ({ headers: { ...(await receiver.sign(delivery)), "webhook-id": receiver.single().deliveryId } }))),
  requirement("unknown-version", "refuses a signature of an unknown version", forged(async (receiver, delivery) => {
    const headers = await receiver.sign(delivery)
    return { headers: { ...headers, "webhook-signature": headers["webhook-signature"]!.replace("v1,", "v9,") } }
  })),
  requirement("stale", "refuses a delivery that was signed an hour ago", forged(async (receiver, delivery) => ({ headers: await receiver.sign(delivery, { at: secondsAgo(3600) }) }), fiveMinutes)),
  requirement("ahead", "refuses a delivery that was signed with a time one hour ahead", forged(async (receiver, delivery) => ({ headers: await receiver.sign(delivery, { at: secondsAgo(-3600) }) }), fiveMinutes)),
  requirement("slow-clock", "accepts a delivery that was signed two minutes ago", async (receiver) => {
    const delivery = receiver.single()
    const headers = await receiver.sign(delivery, { at: secondsAgo(120) })
    return taken("Clocks differ and networks are slow: allow five minutes either way.", await receiver.post(delivery.body, headers))
  }),
  requirement("duplicated", "accepts the same delivery again, as after a lost response", async (receiver) => {
    const delivery = receiver.single()
    return taken(
      "Store the ids of handled deliveries, ignore duplicates, and answer 2xx: a refused delivery is retried until it is a dead letter.",
      await receiver.deliver(delivery),
      await receiver.deliver(delivery)
    )
  }),
  requirement("duplicated-at-once", "accepts a delivery that arrives twice at the same time", async (receiver) => {
    const delivery = receiver.single()
    const answers = await Promise.all([receiver.deliver(delivery), receiver.deliver(delivery)])
    const again = await receiver.deliver(delivery)
    // A receiver that still handles the first delivery may ask to retry the second later.
    const patient = answers.every((answer) => isTaken(answer) || answer.status === 503 || answer.status === 409 || answer.status === 429)
    return finding(patient && answers.some(isTaken) && isTaken(again), "Accept one of the two. The other may be answered 503, and must be accepted when it is sent again.", [...answers, again])
  }),
  requirement("replayed", "accepts known events under a new delivery id, as in a replay", async (receiver) => {
    const events = [{ shipmentId: receiver.newShipment(), sequence: 1 }]
    return taken(
      "Identify events by shipmentId and eventId, bills by uniqueID and version, ignore known ones, and answer 2xx.",
      await receiver.deliver(receiver.deliveryOf(events)),
      await receiver.deliver(receiver.deliveryOf(events))
    )
  }),
  requirement("copied", "accepts or refuses an exact copy of a delivery, without an error", async (receiver) => {
    const delivery = receiver.single()
    const headers = await receiver.sign(delivery)
    const answers = [await receiver.post(delivery.body, headers), await receiver.post(delivery.body, headers)] as const
    return finding(isTaken(answers[0]) && (isTaken(answers[1]) || isRefused(answers[1])), "A copy within five minutes has a valid signature. Handle it like any other duplicate.", answers)
  }),
  requirement("reordered", "accepts a shipment's events out of order", async (receiver) => {
    const shipmentId = receiver.newShipment()
    const answers: Array<Answer> = []
    for (const sequence of [3, 1, 2]) answers.push(await receiver.deliver(receiver.deliveryOf([{ shipmentId, sequence }])))
    return taken("Accept them in any order, and compare sequence, version or milestone: a recovered dead letter arrives after later events.", ...answers)
  }),
  requirement("test-event", "accepts a signed test event", async (receiver) =>
    taken("The portal and operators send it to test a receiver: its type is webhook.test. Answer 2xx, and do nothing.", await receiver.deliver(receiver.testEvent()))),
  requirement("unknown-members", "accepts a delivery with unknown members and codes", async (receiver) => {
    return taken("Interfaces are extended: ignore unknown members.", await receiver.deliver(receiver.grown(receiver.single())))
  })
]
