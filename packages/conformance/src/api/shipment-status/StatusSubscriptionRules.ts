/** Rules of area A about subscriptions and notifications. Two movements are reported for all of them. */
import type { Inbox } from "../Callback.ts"
import type { CallerName } from "../ApiCaller.ts"
import { accepted, expectEachRefused, expectHidden, expectJson, expectRepeated, expectSigned, expectSilent, expectStatus, expectUnauthorized } from "../Expectations.ts"
import { must, type RuleContext, rulesOf, sharing, should, Violation } from "../Rule.ts"
import { comparable, notificationOf, SubscriptionResult } from "./StatusShapes.ts"

const subscribing = (context: RuleContext, body: unknown, as: CallerName = "customer") => context.call("a", "POST", "/notifications/subscribe", { as, body })

const unsubscribing = (context: RuleContext, transactionId: string | number, as: CallerName = "customer") =>
  context.call("a", "DELETE", `/notifications/unsubscribe/${encodeURIComponent(String(transactionId))}`, { as })

const bodyOf = (context: RuleContext, webhookUrl = context.endpointUrl) => ({ referenceNumbers: [context.fixtures.shipment!.proNumber], webhookUrl })

/** Ends by itself after the rules of the area. */
const subscribed = async (context: RuleContext, body: unknown = bodyOf(context), as: CallerName = "customer"): Promise<string | number> => {
  const { transactionId } = expectJson(await subscribing(context, body, as), SubscriptionResult, 200)
  context.afterwards(() => unsubscribing(context, transactionId, as))
  return transactionId
}

const needs = ["customer", "shipment"] as const

const subscriptionRules = rulesOf("a", "Area A, Endpoints: subscribe and unsubscribe", needs, [
  must("subscribe", "answers 200 with message and transactionId to a subscribe call", async (context) => String(await subscribed(context))),
  must("subscribe-unauthenticated", "answers 401 to a subscribe call without valid credentials", { needs: ["shipment"] }, (context) => expectUnauthorized((as) => subscribing(context, bodyOf(context), as))),
  should("subscribe-invalid", "refuses a subscribe call without referenceNumbers or webhookUrl, with an empty list, or with an address that is none", {
    source: "published example of area A: both fields; practice for empty lists and addresses"
  }, (context) => {
    const { referenceNumbers, webhookUrl } = bodyOf(context)
    const bodies = { "no webhookUrl": { referenceNumbers }, "no referenceNumbers": { webhookUrl }, "an empty list": { referenceNumbers: [], webhookUrl }, "no address": { referenceNumbers, webhookUrl: "nowhere" } }
    return expectEachRefused(Object.entries(bodies).map(([what, body]) => [what, () => subscribing(context, body)]))
  }),
  must("unsubscribe", "answers 200 to an unsubscribe call with the transactionId as it was received", async (context) =>
    String(expectStatus(await unsubscribing(context, await subscribed(context)), 200).status)),
  must("unsubscribe-unknown", "answers 404 to an unsubscribe call with an unknown transactionId", {
    needs: ["customer"]
  }, async (context) => String(expectStatus(await unsubscribing(context, "00000000-0000-4000-8000-000000000000"), 404).status)),
  must("unsubscribe-unauthenticated", "answers 401 to an unsubscribe call without valid credentials", async (context) => {
    const transactionId = await subscribed(context)
    return expectUnauthorized((as) => unsubscribing(context, transactionId, as))
  }),
  must("unsubscribe-foreign", "lets no other client end a subscription", {
    source: "Area A, Errors: no access to modify the subscription",
    needs: ["other", ...needs]
  }, async (context) => {
    const transactionId = await subscribed(context)
    expectHidden(await unsubscribing(context, transactionId, "other"))
    return String(expectStatus(await unsubscribing(context, transactionId), 200).status)
  })
])

interface Notifications {
  /** Answers the first one with 500. */
  readonly own: Inbox
  /** Names a secret, in a member that the interface does not have: an implementation may refuse it. */
  readonly signed: Inbox
  readonly ended: Inbox
  /** Subscribed by another number of the shipment, or by its PRO number behind another one. An implementation may refuse them. */
  readonly byNumbers: ReadonlyArray<readonly [numbers: string, Inbox]>
  readonly foreign: Inbox | undefined
  /** The customer's subscription to the foreign shipment. */
  readonly unpermitted: Inbox | undefined
}

const expected = 2

/** Numbers that name the shipment, beside its PRO number alone. */
const numbersOf = ({ fixtures: { foreignShipment, shipment } }: RuleContext): ReadonlyArray<readonly [numbers: string, referenceNumbers: ReadonlyArray<string>]> => {
  const { bolNumber, poNumber, proNumber } = shipment!
  return [["its BOL number", [bolNumber]], ["its PO number", [poNumber]], ...foreignShipment === undefined ? [] : [["two PRO numbers", [foreignShipment.proNumber, proNumber]] as const]]
}

const subscribeByNumbers = (context: RuleContext): Promise<Notifications["byNumbers"]> =>
  Promise.all(numbersOf(context).map(async ([numbers, referenceNumbers]) => {
    const inbox = context.inbox()
    await subscribed(context, { referenceNumbers, webhookUrl: inbox.url }).catch(() => {})
    return [numbers, inbox] as const
  }))

const notify = async (context: RuleContext): Promise<Notifications> => {
  const { clients, foreignShipment, webhook } = context.fixtures
  const [own, signed, ended, foreign, unpermitted] = [context.inbox(), context.inbox(), context.inbox(), context.inbox(), context.inbox()] as const
  own.answers((nth) => nth === 0 ? 500 : 200)
  await subscribed(context, bodyOf(context, own.url))
  if (webhook !== undefined) await subscribed(context, { ...bodyOf(context, signed.url), hmacSecretId: webhook.hmacSecretId }).catch(() => {})
  expectStatus(await unsubscribing(context, await subscribed(context, bodyOf(context, ended.url))), 200)
  if (clients?.other !== undefined) await subscribed(context, bodyOf(context, foreign.url), "other")
  if (foreignShipment !== undefined) await subscribed(context, { ...bodyOf(context, unpermitted.url), referenceNumbers: [foreignShipment.proNumber] })
  const byNumbers = await subscribeByNumbers(context)
  await context.trigger("a")
  await own.until(() => accepted(own.posts).length >= expected, context.waitMillis)
  await own.untilQuiet(context.quietMillis, context.waitMillis)
  if (webhook !== undefined) await signed.until(() => signed.posts.length > 0, context.quietMillis)
  for (const [, inbox] of byNumbers) await inbox.until(() => inbox.posts.length > 0, context.quietMillis)
  return { own, signed, ended, byNumbers, foreign: clients?.other === undefined ? undefined : foreign, unpermitted: foreignShipment === undefined ? undefined : unpermitted }
}

const about = sharing("notifications", notify)

const followed = [...needs, "trigger", "receiver"] as const

const notificationRules = rulesOf("a", "Area A webhook notifications", followed, [
  must("notified", "notifies a subscriber of every movement of the shipment", about(({ own }) => {
    const { length } = accepted(own.posts)
    if (length < expected) throw new Violation(`${expected} movements were reported, and ${length} notifications came.`, own.posts.at(-1))
    return `${length} notifications`
  })),
  should("notified-numbers", "notifies a subscriber that names the shipment by its BOL number, by its PO number, or as the second of two", {
    source: "Area A: shipments are identified by reference numbers"
  }, about(({ byNumbers }) => {
    const missing = byNumbers.find(([, { posts }]) => posts.length === 0)
    if (missing !== undefined) throw new Violation(`No notification came to the subscription that names the shipment by ${missing[0]}.`)
    return byNumbers.map(([numbers]) => numbers).join(", ")
  })),
  must("notification-shape", "posts each notification in one of the two shapes", about(({ own }, { fixtures }) => {
    for (const post of own.posts) {
      const { proNumber } = notificationOf(post)
      if (comparable(proNumber) !== comparable(fixtures.shipment!.proNumber)) throw new Violation(`The notification is about ${proNumber}, which was not subscribed to.`, post)
    }
    return `${own.posts.length} notifications`
  })),
  must("notification-movement", "notifies movements as delivery updates, with the terminal status if they give one, in order", about(({ own }) => {
    const updates = accepted(own.posts).map((post) => ({ notification: notificationOf(post), post }))
    const statuses = updates.map(({ notification }) => notification.terminalStatus).filter((status) => status !== undefined)
    const wrong = updates.find(({ notification }) => !("shipmentMilestoneStatus" in notification))
    if (wrong !== undefined) throw new Violation("A movement was notified as a delivery information.", wrong.post)
    if (statuses.includes("Arrived") && statuses.includes("Departed") && statuses.indexOf("Departed") < statuses.indexOf("Arrived")) throw new Violation("Departed was notified before Arrived.", updates[0]!.post)
    return statuses.join(", ")
  })),
  must("notification-conditions", "gives countsToDelivery only when the milestone is Out for Delivery, and the partner carrier when it is Interline", about(({ own }) => {
    for (const post of own.posts) {
      const notification = notificationOf(post)
      if (!("shipmentMilestoneStatus" in notification)) continue
      const { countsToDelivery, PartnerCarrierName, PartnerCarrierSCAC, shipmentMilestoneStatus } = notification
      if (countsToDelivery !== undefined && shipmentMilestoneStatus !== "Out for Delivery") throw new Violation(`countsToDelivery is ${countsToDelivery}, and the milestone ${shipmentMilestoneStatus}.`, post)
      if (shipmentMilestoneStatus === "Interline" && ((PartnerCarrierName ?? "") === "" || (PartnerCarrierSCAC ?? "") === "")) throw new Violation("The milestone is Interline, and the partner carrier is missing.", post)
    }
    return `${own.posts.length} notifications`
  })),
  should("notification-signed", "signs notifications with the secret that hmacSecretId of the subscribe call names", {
    source: "Standard Webhooks; the interface shows no signature for area A",
    needs: ["secret", ...followed]
  }, about(({ signed }, context) => expectSigned(context, signed.posts))),
  should("notification-retried", "repeats a notification that was answered 500, with the same id and body", {
    source: "practice: the interface shows no retries for area A"
  }, about(({ own }) => expectRepeated(own.posts))),
  must("unsubscribed-silent", "notifies nothing after an unsubscribe call", about(({ ended }) => expectSilent(ended.posts, "it was unsubscribed"))),
  must("notification-foreign", "notifies nobody of a shipment that it has no access to", {
    source: "published requirements of area A: notifications go to verified stakeholders only",
    needs: ["other", "foreignShipment", ...followed]
  }, about(({ unpermitted, foreign }) => {
    expectSilent(foreign!.posts, "the other customer has no access to the shipment")
    return expectSilent(unpermitted!.posts, "the customer has no access to the shipment")
  }))
])

export const statusSubscriptionRules = [...subscriptionRules, ...notificationRules]
