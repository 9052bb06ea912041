/** Rules of area E about notifications and the webhook test. One bill is created, changed and removed for all of them. */
import { PreliminaryFreightCharge } from "@waybill/core/freight-charges"
import { Schema } from "effect"
import type { Inbox, Post } from "../Callback.ts"
import { accepted, expectEachRefused, expectEqual, expectRepeated, expectSigned, expectSilent, expectStatus, jsonOf, read } from "../Expectations.ts"
import { must, type RuleContext, rulesOf, sharing, should, Violation } from "../Rule.ts"
import { changes, chargesOf, type ChargeSubscribed, expectCode, subscribeToCharges, uniqueIdsIn } from "./ChargeShapes.ts"

interface Notifications {
  /** Answers the first one with 500. */
  readonly own: ChargeSubscribed
  /** Cancelled before anything was published. */
  readonly cancelled: ChargeSubscribed
  /** Of the other customer, without the change log. Names a secret, in a member that the interface does not have. */
  readonly foreign: ChargeSubscribed | undefined
}

const notify = async (context: RuleContext): Promise<Notifications> => {
  const { bills, clients, webhook } = context.fixtures
  const inboxes = [context.inbox(), context.inbox(), context.inbox()] as const
  inboxes[0].answers((nth) => nth === 0 ? 500 : 200)
  const cancelled = await subscribeToCharges(context, { webhookUrl: inboxes[2].url })
  expectStatus(await cancelled.end(), 200, 202, 204)
  const own = { ...await subscribeToCharges(context, { webhookUrl: inboxes[0].url }), inbox: inboxes[0] }
  const foreign = clients?.other === undefined
    ? undefined
    : { ...await subscribeToCharges(context, { webhookUrl: inboxes[1].url, accounts: [bills!.foreignAccount], includeEventLog: false, ...(webhook === undefined ? {} : { hmacSecretId: webhook.hmacSecretId }) }, "other"), inbox: inboxes[1] }
  try {
    await context.trigger("e")
    const enough = (posts: ReadonlyArray<Post>) => uniqueIdsIn(accepted(posts)).length >= changes
    await own.inbox.until(() => enough(own.inbox.posts), context.waitMillis)
    if (foreign !== undefined) await foreign.inbox.until(() => enough(foreign.inbox.posts), context.waitMillis)
    await own.inbox.untilQuiet(context.quietMillis, context.waitMillis)
    return { own, foreign, cancelled: { ...cancelled, inbox: inboxes[2] } }
  } finally {
    await own.end()
    await foreign?.end()
  }
}

const needs = ["customer", "bills", "trigger", "receiver"] as const

const about = sharing("notifications", notify)

/** Accepted notifications of each bill, in order. */
const versionsIn = (posts: ReadonlyArray<Post>) =>
  Map.groupBy(accepted(posts).flatMap((post) => chargesOf(post).map((charge) => ({ charge, post }))), ({ charge }) => charge.pfc.uniqueID)

const notificationRules = rulesOf("e", "Area E notifications", needs, [
  must("notified", "notifies when a bill is created, updated and removed", about(({ own }) => {
    const most = Math.max(0, ...[...versionsIn(own.inbox.posts).values()].map(({ length }) => length))
    if (most < changes) throw new Violation(`A bill was created, updated and removed, and ${most} notifications of it came.`, own.inbox.posts.at(-1))
    return `${most} notifications`
  })),
  must("notification-shape", "posts notifications as an array of PFC objects", about(({ own }) => `${own.inbox.posts.flatMap(chargesOf).length} PFC objects`)),
  should("notification-members", "posts PFC objects with every member that the published definition requires", {
    source: "published definition of area E: required members"
  }, about(({ own }) => `${own.inbox.posts.flatMap((post) => read(Schema.Array(PreliminaryFreightCharge), jsonOf(post), "The body of a notification", post)).length} PFC objects`)),
  should("notification-versions", "counts the versions of a bill in header.function, and sends them in order", {
    source: "published requirements of area E: header.function is PFC1, PFC2 and so on"
  }, about(({ own }) => {
    for (const versions of versionsIn(own.inbox.posts).values()) {
      const names = versions.map(({ charge }) => charge.pfc.header?.function)
      expectEqual(names, names.map((_, at) => `PFC${at + 1}`), "header.function of the notifications of a bill", versions.at(-1)?.post)
    }
    return "in order"
  })),
  must("notification-log", "includes the change log of an update, because includeEventLog is true by default", about(({ own }) => {
    const updated = [...versionsIn(own.inbox.posts).values()].map((versions) => versions[1])[0]
    const log = updated?.charge.charges?.changeLog ?? []
    if (log.length === 0) throw new Violation("The notification of the update has no change log.", updated?.post)
    return `${log.length} entries`
  })),
  must("notification-no-log", "leaves the change log of new and updated bills out when includeEventLog is false", { needs: ["other", ...needs] }, about(({ foreign }) => {
    const { posts } = foreign!.inbox
    if (posts.length === 0) throw new Violation("No notification came to the subscription without the change log.")
    // a removal may be marked in the log alone
    const logged = [...versionsIn(posts).values()].flatMap((versions) => versions.slice(0, changes - 1)).find(({ charge }) => (charge.charges?.changeLog?.length ?? 0) > 0)
    if (logged !== undefined) throw new Violation("A notification has a change log, although includeEventLog is false.", logged.post)
    return "no log"
  })),
  must("cancelled-silent", "notifies nothing after a subscription was cancelled", { source: "Area E, Operations: Cancel subscription" }, about(({ cancelled }) =>
    expectSilent(cancelled.inbox.posts, "the subscription was cancelled"))),
  should("notification-signed", "signs notifications with the secret that hmacSecretId of the subscription names", {
    source: "Standard Webhooks; the interface shows no signature for area E",
    needs: ["other", "secret", ...needs]
  }, about(({ foreign }, context) => expectSigned(context, foreign!.inbox.posts))),
  should("notification-retried", "repeats a notification that was answered 500, with the same id and body", {
    source: "practice: the interface shows no retries for area E"
  }, about(({ own }) => expectRepeated(own.inbox.posts))),
  must("notification-foreign", "notifies no client of a bill on another client's account", {
    source: "published requirements of area E: parties other than the debtor have no access",
    needs: ["other", ...needs]
  }, about(({ foreign, own }, { fixtures }) => {
    const { account, foreignAccount } = fixtures.bills!
    for (const [{ inbox }, hidden] of [[own, foreignAccount], [foreign!, account]] as const) {
      const shown = inbox.posts.find((post) => chargesOf(post).some(({ billTo }) => billTo?.account === hidden))
      if (shown !== undefined) throw new Violation(`A bill of ${hidden} was sent to a client without access to it.`, shown)
    }
    return "nothing of others"
  }))
])

const testing = (context: RuleContext, webhookUrl: unknown) => context.call("e", "POST", "/webhooks/test", { body: { webhookUrl } })

const expectSample = async (inbox: Inbox, { waitMillis }: RuleContext): Promise<void> => {
  if (!(await inbox.until(() => inbox.posts.length > 0, waitMillis))) throw new Violation("No test delivery came.")
}

const testRules = rulesOf("e", "Area E, Operations: Test webhook", ["customer", "receiver"], [
  must("test", "sends a sample to the address of a webhook test", async (context) => {
    const inbox = context.inbox()
    expectStatus(await testing(context, inbox.url), 200)
    await expectSample(inbox, context)
    return `${inbox.posts.length} deliveries`
  }),
  should("test-sample", "sends PFC objects with isTest true in a webhook test", { source: "published definition of area E: isTest" }, async (context) => {
    const inbox = context.inbox()
    expectStatus(await testing(context, inbox.url), 200)
    await expectSample(inbox, context)
    for (const post of inbox.posts) {
      const isTest = chargesOf(post).map(({ pfc }) => pfc.isTest)
      expectEqual([...new Set(isTest)], [true], "isTest of the PFC objects", post)
    }
    return "isTest"
  }),
  should("test-refused", "answers a webhook test with 400 and the code INVALID_REQUEST when the receiver refuses the sample", { source: "published definition of area E: 400" }, async (context) => {
    const inbox = context.inbox()
    inbox.answers(() => 500)
    return String(expectCode(expectStatus(await testing(context, inbox.url), 400), "INVALID_REQUEST").status)
  }),
  must("test-url", "refuses a webhook test without an address, or with one that is no URI", {
    needs: ["customer"]
  }, (context) => expectEachRefused(["nowhere", undefined].map((url) => [`webhookUrl ${url ?? "missing"}`, () => testing(context, url)])))
])

export const chargeNotificationRules = [...notificationRules, ...testRules]
