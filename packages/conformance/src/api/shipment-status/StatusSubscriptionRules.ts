/** Rules of area A about subscriptions and notifications. Two movements are reported for all of them. */
import type { Inbox } from "../Callback.ts"
import type { CallerName } from "../ApiCaller.ts"
import { accepted, expectEachRefused, expectHidden, expectJson, expectRepeated, expectSigned, expectStatus } from "../Expectations.ts"
import { type RuleContext, rulesOf, Violation } from "../Rule.ts"
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

const subscriptionRules = rulesOf("a", "Area A, Endpoints: subscribe and unsubscribe", [
  { id: "subscribe", sentence: "answers 200 with message and transactionId to a subscribe call", needs, run: async (context) => String(await subscribed(context)) },
  {
    id: "subscribe-unauthenticated",
    sentence: "answers 401 to a subscribe call without valid credentials",
    needs: ["shipment"],
    run: async (context) => {
      for (const as of ["nobody", "invalid"] as const) expectStatus(await subscribing(context, bodyOf(context), as), 401)
      return "401"
    }
  },
  {
    id: "subscribe-invalid",
    level: "should",
    source: "published example of area A: both fields; practice for empty lists and addresses",
    sentence: "refuses a subscribe call without referenceNumbers or webhookUrl, with an empty list, or with an address that is none",
    needs,
    run: (context) => {
      const { referenceNumbers, webhookUrl } = bodyOf(context)
      const bodies = { "no webhookUrl": { referenceNumbers }, "no referenceNumbers": { webhookUrl }, "an empty list": { referenceNumbers: [], webhookUrl }, "no address": { referenceNumbers, webhookUrl: "nowhere" } }
      return expectEachRefused(Object.entries(bodies).map(([what, body]) => [what, () => subscribing(context, body)]))
    }
  },
  {
    id: "unsubscribe",
    sentence: "answers 200 to an unsubscribe call with the transactionId as it was received",
    needs,
    run: async (context) => String(expectStatus(await unsubscribing(context, await subscribed(context)), 200).status)
  },
  {
    id: "unsubscribe-unknown",
    sentence: "answers 404 to an unsubscribe call with an unknown transactionId",
    needs: ["customer"],
    run: async (context) => String(expectStatus(await unsubscribing(context, "00000000-0000-4000-8000-000000000000"), 404).status)
  },
  {
    id: "unsubscribe-unauthenticated",
    sentence: "answers 401 to an unsubscribe call without valid credentials",
    needs,
    run: async (context) => {
      const transactionId = await subscribed(context)
      for (const as of ["nobody", "invalid"] as const) expectStatus(await unsubscribing(context, transactionId, as), 401)
      return "401"
    }
  },
  {
    id: "unsubscribe-foreign",
    source: "Area A, Errors: no access to modify the subscription",
    sentence: "lets no other client end a subscription",
    needs: ["other", ...needs],
    run: async (context) => {
      const transactionId = await subscribed(context)
      expectHidden(await unsubscribing(context, transactionId, "other"))
      return String(expectStatus(await unsubscribing(context, transactionId), 200).status)
    }
  }
])

interface Notifications {
  /** Answers the first one with 500. */
  readonly own: Inbox
  /** Names a secret, in a member that the interface does not have: an implementation may refuse it. */
  readonly signed: Inbox
  readonly ended: Inbox
  readonly foreign: Inbox | undefined
  /** The customer's subscription to the foreign shipment. */
  readonly curious: Inbox | undefined
}

const expected = 2

const notify = async (context: RuleContext): Promise<Notifications> => {
  const { clients, foreignShipment, webhook } = context.fixtures
  const [own, signed, ended, foreign, curious] = [context.inbox(), context.inbox(), context.inbox(), context.inbox(), context.inbox()] as const
  own.answers((nth) => nth === 0 ? 500 : 200)
  await subscribed(context, bodyOf(context, own.url))
  if (webhook !== undefined) await subscribed(context, { ...bodyOf(context, signed.url), hmacSecretId: webhook.hmacSecretId }).catch(() => {})
  expectStatus(await unsubscribing(context, await subscribed(context, bodyOf(context, ended.url))), 200)
  if (clients?.other !== undefined) await subscribed(context, bodyOf(context, foreign.url), "other")
  if (foreignShipment !== undefined) await subscribed(context, { ...bodyOf(context, curious.url), referenceNumbers: [foreignShipment.proNumber] })
  await context.trigger("a")
  await own.until(() => accepted(own.posts).length >= expected, context.waitMillis)
  await own.untilQuiet(context.quietMillis, context.waitMillis)
  if (webhook !== undefined) await signed.until(() => signed.posts.length > 0, context.quietMillis)
  return { own, signed, ended, foreign: clients?.other === undefined ? undefined : foreign, curious: foreignShipment === undefined ? undefined : curious }
}

const about = (look: (notifications: Notifications, context: RuleContext) => Promise<string> | string) => async (context: RuleContext): Promise<string> =>
  look(await context.once("notifications", () => notify(context)), context)

const expectSilent = (inbox: Inbox, why: string): string => {
  if (inbox.posts.length > 0) throw new Violation(`A notification came, although ${why}.`, inbox.posts[0])
  return "nothing came"
}

const followed = [...needs, "trigger", "receiver"] as const

const notificationRules = rulesOf("a", "Area A webhook notifications", [
  {
    id: "notified",
    sentence: "notifies a subscriber of every movement of the shipment",
    needs: followed,
    run: about(({ own }) => {
      const { length } = accepted(own.posts)
      if (length < expected) throw new Violation(`${expected} movements were reported, and ${length} notifications came.`, own.posts.at(-1))
      return `${length} notifications`
    })
  },
  {
    id: "notification-shape",
    sentence: "posts each notification in one of the two shapes",
    needs: followed,
    run: about(({ own }, { fixtures }) => {
      for (const post of own.posts) {
        const { proNumber } = notificationOf(post)
        if (comparable(proNumber) !== comparable(fixtures.shipment!.proNumber)) throw new Violation(`The notification is about ${proNumber}, which was not subscribed to.`, post)
      }
      return `${own.posts.length} notifications`
    })
  },
  {
    id: "notification-movement",
    sentence: "notifies movements as delivery updates, with the terminal status if they give one, in order",
    needs: followed,
    run: about(({ own }) => {
      const updates = accepted(own.posts).map((post) => ({ notification: notificationOf(post), post }))
      const statuses = updates.map(({ notification }) => notification.terminalStatus).filter((status) => status !== undefined)
      const wrong = updates.find(({ notification }) => !("shipmentMilestoneStatus" in notification))
      if (wrong !== undefined) throw new Violation("A movement was notified as a delivery information.", wrong.post)
      if (statuses.includes("Arrived") && statuses.includes("Departed") && statuses.indexOf("Departed") < statuses.indexOf("Arrived")) throw new Violation("Departed was notified before Arrived.", updates[0]!.post)
      return statuses.join(", ")
    })
  },
  {
    id: "notification-conditions",
    sentence: "gives countsToDelivery only when the milestone is Out for Delivery, and the partner carrier when it is Interline",
    needs: followed,
    run: about(({ own }) => {
      for (const post of own.posts) {
        const notification = notificationOf(post)
        if (!("shipmentMilestoneStatus" in notification)) continue
        const { countsToDelivery, PartnerCarrierName, PartnerCarrierSCAC, shipmentMilestoneStatus } = notification
        if (countsToDelivery !== undefined && shipmentMilestoneStatus !== "Out for Delivery") throw new Violation(`countsToDelivery is ${countsToDelivery}, and the milestone ${shipmentMilestoneStatus}.`, post)
        if (shipmentMilestoneStatus === "Interline" && ((PartnerCarrierName ?? "") === "" || (PartnerCarrierSCAC ?? "") === "")) throw new Violation("The milestone is Interline, and the partner carrier is missing.", post)
      }
      return `${own.posts.length} notifications`
    })
  },
  {
    id: "notification-signed",
    level: "should",
    source: "Standard Webhooks; the interface shows no signature for area A",
    sentence: "signs notifications with the secret that hmacSecretId of the subscribe call names",
    needs: ["secret", ...followed],
    run: about(({ signed }, context) => expectSigned(context, signed.posts))
  },
  {
    id: "notification-retried",
    level: "should",
    source: "practice: the interface shows no retries for area A",
    sentence: "repeats a notification that was answered 500, with the same id and body",
    needs: followed,
    run: about(({ own }) => expectRepeated(own.posts))
  },
  { id: "unsubscribed-silent", sentence: "notifies nothing after an unsubscribe call", needs: followed, run: about(({ ended }) => expectSilent(ended, "it was unsubscribed")) },
  {
    id: "notification-foreign",
    source: "published requirements of area A: notifications go to verified stakeholders only",
    sentence: "notifies nobody of a shipment that it has no access to",
    needs: ["other", "foreignShipment", ...followed],
    run: about(({ curious, foreign }) => {
      expectSilent(foreign!, "the other customer has no access to the shipment")
      return expectSilent(curious!, "the customer has no access to the shipment")
    })
  }
])

export const statusSubscriptionRules = [...subscriptionRules, ...notificationRules]
