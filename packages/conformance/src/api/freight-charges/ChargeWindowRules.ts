/** Rules of area E about hourly and daily notifications. Each frequency has one publication, or two if a window ended during the first. */
import type { Inbox, Post } from "../Callback.ts"
import { accepted } from "../Expectations.ts"
import { must, type Need, type RuleContext, rulesOf, sharing, should, Violation, type WindowFrequency } from "../Rule.ts"
import { changes, chargesOf, subscribeToCharges, uniqueIdsIn } from "./ChargeShapes.ts"

interface Windowed {
  /** Deliveries during the first publication: a window may have ended. */
  readonly early: ReadonlyArray<Post>
  /** Deliveries during the second publication, seconds later. There is none without early ones. */
  readonly earlyAgain: ReadonlyArray<Post>
  /** Deliveries at the end of the window. Empty where the check does not wait for it. */
  readonly atEnd: ReadonlyArray<Post>
}

/** Shorter pauses say little about a busy implementation. */
const leastQuietMillis = 1_000

/** Publishes, and gives deliveries to the inbox as much time as those of a subscription in real time took. */
const publish = async (context: RuleContext, inbox: Inbox, realTime: Inbox): Promise<ReadonlyArray<Post>> => {
  const [before, seen] = [inbox.posts.length, uniqueIdsIn(accepted(realTime.posts)).length]
  const begun = Date.now()
  await context.trigger("e")
  await realTime.until(() => uniqueIdsIn(accepted(realTime.posts)).length >= seen + changes, context.waitMillis)
  await inbox.untilQuiet(Math.max(leastQuietMillis, context.quietMillis, Date.now() - begun), context.waitMillis)
  return inbox.posts.slice(before)
}

const collect = async (context: RuleContext, frequency: WindowFrequency): Promise<Windowed> => {
  const [inbox, realTime] = [context.inbox(), context.inbox()]
  const own = await subscribeToCharges(context, { webhookUrl: inbox.url, frequency })
  const other = await subscribeToCharges(context, { webhookUrl: realTime.url, accounts: [context.fixtures.bills!.foreignAccount] }, "other")
  try {
    const early = await publish(context, inbox, realTime)
    const earlyAgain = early.length === 0 ? [] : await publish(context, inbox, realTime)
    const seen = inbox.posts.length
    const millis = earlyAgain.length === 0 ? context.windowWait(frequency) : undefined
    if (millis !== undefined && await inbox.until(() => inbox.posts.length > seen, millis)) await inbox.untilQuiet(context.quietMillis, context.waitMillis)
    return { early, earlyAgain, atEnd: inbox.posts.slice(seen) }
  } finally {
    await own.end()
    await other.end()
  }
}

const about = (frequency: WindowFrequency) => sharing(`${frequency} notifications`, (context) => collect(context, frequency))

const needs = ["customer", "other", "bills", "trigger", "receiver"] as const

const windows: ReadonlyArray<readonly [frequency: WindowFrequency, unit: string, need: Need]> = [["hourly", "hour", "hour"], ["daily", "day", "day"]]

export const chargeWindowRules = windows.flatMap(([frequency, unit, need]) => rulesOf("e", "Area E notifications: cadence follows frequency", [...needs, need], [
  must(`${frequency}-waits`, `sends no change at once to a subscription with the frequency ${frequency}`, { needs }, about(frequency)(({ early, earlyAgain }) => {
    if (earlyAgain.length > 0) throw new Violation(`Two publications, seconds apart, were both sent at once, although the frequency is ${frequency}.`, earlyAgain[0])
    return early.length === 0 ? "nothing came at once" : "a window ended during the first publication; nothing came during the second"
  })),
  must(`${frequency}-sent`, `sends the changes of the ${unit} at its end to a subscription with the frequency ${frequency}`, about(frequency)(({ atEnd }, { fixtures }) => {
    const bills = accepted(atEnd).flatMap(chargesOf)
    if (bills.length === 0) throw new Violation(`Bills of ${fixtures.bills!.account} were created, updated and removed, and the ${unit} ended without a notification.`, atEnd.at(-1))
    return `${bills.length} PFC objects`
  })),
  should(`${frequency}-latest`, `sends each bill once at the end of the ${unit}`, {
    source: "practice: a window is one array with the latest version of each bill"
  }, about(frequency)(({ atEnd }) => {
    const ids = accepted(atEnd).flatMap(chargesOf).map(({ pfc }) => pfc.uniqueID)
    const twice = ids.find((id, at) => ids.indexOf(id) !== at)
    if (twice !== undefined) throw new Violation(`The bill ${twice} came ${ids.filter((id) => id === twice).length} times when the ${unit} ended.`, atEnd.at(-1))
    return `${ids.length} bills`
  }))
]))
