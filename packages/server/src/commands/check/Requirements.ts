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
  finding(isRefused(answer), isTaken(answer) ? todo : "It did not take it, but not because it said no: answer 401, so that a bug of yours can be told from a forgery.", [answer])

const strange = (): string => `whsec_${randomBytes(32).toString("base64")}`

const secondsAgo = (seconds: number): Date => new Date(Date.now() - seconds * 1000)

const verifyAll = "Anybody who knows the address can make events up: verify webhook-signature over the id, the time and the raw body, and answer 401 when it does not fit."

const forged = (make: (receiver: Receiver, delivery: SampleDelivery) => Promise<{ readonly headers: Headers; readonly body?: Uint8Array }>, todo = verifyAll) =>
async (receiver: Receiver): Promise<Finding> => {
  const delivery = receiver.single()
  const { body = delivery.body, headers } = await make(receiver, delivery)
  return refused(todo, await receiver.post(body, headers))
}

const fiveMinutes = "Compare webhook-timestamp with your clock, and refuse what is more than five minutes away, or a copy stays good for ever."

export const requirements: ReadonlyArray<Requirement> = [
  {
    id: "good",
    sentence: "takes a signed delivery",
    find: async (receiver) =>
      taken("Answer 2xx. Is it the right secret, and does it see the raw body, before any parser?", await receiver.deliver(receiver.single()))
  },
  {
    id: "good-batch",
    sentence: "takes several events of several shipments in one delivery",
    // Not for shipment status, where one notification is one delivery.
    kinds: ["transit-events", "freight-charges"],
    find: async (receiver) => {
      const [one, other] = [receiver.newShipment(), receiver.newShipment()]
      const events = [1, 2, 3].flatMap((sequence) => [{ shipmentId: one, sequence }, { shipmentId: other, sequence }])
      return taken("Read every member of the list, not only the first.", await receiver.deliver(receiver.deliveryOf(events)))
    }
  },
  {
    id: "rotation",
    sentence: "takes a delivery that an unknown secret signed first and its own second",
    find: async (receiver) => {
      const delivery = receiver.single()
      const [unknown, own] = [await receiver.sign(delivery, { secrets: [strange()] }), await receiver.sign(delivery)]
      const both = { ...own, "webhook-signature": `${unknown["webhook-signature"]} ${own["webhook-signature"]}` }
      return taken("While a secret is rotated, webhook-signature has several signatures with blanks between: one that fits is enough.", await receiver.post(delivery.body, both))
    }
  },
  {
    id: "unsigned",
    sentence: "refuses a delivery without a signature",
    find: forged(async (receiver, delivery) => {
      const { "webhook-signature": _, ...headers } = await receiver.sign(delivery)
      return { headers }
    })
  },
  {
    id: "no-headers",
    sentence: "refuses a delivery without any of the three headers",
    find: forged(async () => ({ headers: {} }))
  },
  {
    id: "wrong-signature",
    sentence: "refuses a delivery that another secret signed",
    find: forged(async (receiver, delivery) => ({ headers: await receiver.sign(delivery, { secrets: [strange()] }) }))
  },
  {
    id: "other-body",
    sentence: "refuses a body that was changed after it was signed",
    find: forged(async (receiver, delivery) => ({ headers: await receiver.sign(delivery), body: new TextEncoder().encode(new TextDecoder().decode(delivery.body).replace("Chicago", "Houston")) }))
  },
  {
    id: "other-id",
    sentence: "refuses a signature that was made for another delivery id",
    find: forged(async (receiver, delivery) => ({ headers: { ...(await receiver.sign(delivery)), "webhook-id": receiver.single().deliveryId } }))
  },
  {
    id: "unknown-version",
    sentence: "refuses a signature of a version that it does not know",
    find: forged(async (receiver, delivery) => {
      const headers = await receiver.sign(delivery)
      return { headers: { ...headers, "webhook-signature": headers["webhook-signature"]!.replace("v1,", "v9,") } }
    })
  },
  {
    id: "stale",
    sentence: "refuses a delivery that was signed an hour ago",
    find: forged(async (receiver, delivery) => ({ headers: await receiver.sign(delivery, { at: secondsAgo(3600) }) }), fiveMinutes)
  },
  {
    id: "ahead",
    sentence: "refuses a delivery that is signed for an hour from now",
    find: forged(async (receiver, delivery) => ({ headers: await receiver.sign(delivery, { at: secondsAgo(-3600) }) }), fiveMinutes)
  },
  {
    id: "slow-clock",
    sentence: "takes a delivery that was signed two minutes ago",
    find: async (receiver) => {
      const delivery = receiver.single()
      const headers = await receiver.sign(delivery, { at: secondsAgo(120) })
      return taken("Clocks differ and networks are slow: allow five minutes either way.", await receiver.post(delivery.body, headers))
    }
  },
  {
    id: "duplicated",
    sentence: "takes the same delivery again, as after an answer that got lost",
    find: async (receiver) => {
      const delivery = receiver.single()
      return taken(
        "Remember what you handled, do nothing the second time, and answer 2xx: a refusal is tried again and ends as a dead letter.",
        await receiver.deliver(delivery),
        await receiver.deliver(delivery)
      )
    }
  },
  {
    id: "duplicated-at-once",
    sentence: "takes a delivery that comes twice at the same time",
    find: async (receiver) => {
      const delivery = receiver.single()
      const answers = await Promise.all([receiver.deliver(delivery), receiver.deliver(delivery)])
      const again = await receiver.deliver(delivery)
      // A receiver that still handles the first delivery may ask to retry the second later.
      const patient = answers.every((answer) => isTaken(answer) || answer.status === 503 || answer.status === 409 || answer.status === 429)
      return finding(patient && answers.some(isTaken) && isTaken(again), "One of the two has to be taken; the other may be answered 503, and has to be taken when it comes again.", [...answers, again])
    }
  },
  {
    id: "replayed",
    sentence: "takes news that it has under a new delivery id, as of a replay",
    find: async (receiver) => {
      const events = [{ shipmentId: receiver.newShipment(), sequence: 1 }]
      return taken(
        "Know events by eventId and bills by uniqueID and version, leave out what you have, and answer 2xx.",
        await receiver.deliver(receiver.deliveryOf(events)),
        await receiver.deliver(receiver.deliveryOf(events))
      )
    }
  },
  {
    id: "copied",
    sentence: "does not break when somebody sends an exact copy",
    find: async (receiver) => {
      const delivery = receiver.single()
      const headers = await receiver.sign(delivery)
      const answers = [await receiver.post(delivery.body, headers), await receiver.post(delivery.body, headers)] as const
      return finding(isTaken(answers[0]) && (isTaken(answers[1]) || isRefused(answers[1])), "A copy within five minutes has a good signature: it is a duplicate like any other.", answers)
    }
  },
  {
    id: "reordered",
    sentence: "takes a shipment's news in another order than it happened",
    find: async (receiver) => {
      const shipmentId = receiver.newShipment()
      const answers: Array<Answer> = []
      for (const sequence of [3, 1, 2]) answers.push(await receiver.deliver(receiver.deliveryOf([{ shipmentId, sequence }])))
      return taken("Take them as they come, and go by sequence, version or milestone: after a dead letter was sent again an earlier event comes late.", ...answers)
    }
  },
  {
    id: "unknown-members",
    sentence: "takes a delivery with members and words that it does not know",
    find: async (receiver) => {
      return taken("Interfaces grow: pass over what you do not know.", await receiver.deliver(receiver.grown(receiver.single())))
    }
  }
]
