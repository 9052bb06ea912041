/** The notice to a customer about a subscription that fails or is paused. It has no freight data: mail is not encrypted end to end. */
import { Schema } from "effect"
import { type DestinationOverview, overviewCount } from "../delivery/DeliveryQueue.ts"
import { areaOfSource } from "../Areas.ts"
import type { MailText } from "../mail/model/Mail.ts"
import { formatInstant, instantOrNull, InstantText } from "../shared/Instant.ts"
import { type NoticeKind, noticeKinds } from "./NoticeStore.ts"

/** A notice about one endpoint, before it is written as e-mail or webhook. */
export interface Notice {
  readonly kind: NoticeKind
  readonly destination: DestinationOverview
  /** When the oldest delivery in a retry has its last attempt, if one waits. */
  readonly lastAttemptAt: number | undefined
  /** Days that an entry may wait. */
  readonly waitingDays: number
}

const dayMillis = 86_400_000

/** When the oldest waiting entry is removed unless it is sent before. */
const removedAt = ({ destination: { oldestWaitingAt }, waitingDays }: Notice): number | undefined =>
  oldestWaitingAt === undefined ? undefined : oldestWaitingAt + waitingDays * dayMillis

const subjects: Readonly<Record<NoticeKind, string>> = {
  paused: "Your webhook is paused",
  failing: "Your webhook has failed for long",
  dead_letter: "Your webhook has dead letters",
  ending: "Your webhook fails: attempts end soon"
}

/** Subject and plain text of a mail. */
export const mailOf = (notice: Notice): MailText => {
  const { destination: { destinationId, endpointUrl, status }, kind } = notice
  const paragraphs = [
    `Subscription ${destinationId}\nEndpoint ${endpointUrl}`,
    kind === "paused"
      ? [`The subscription is paused since ${formatInstant(status.since)}.${status.reason === undefined ? "" : ` ${status.reason}`}`, ...counts(notice)]
      : ["The endpoint does not accept deliveries.", ...counts(notice), ...lastAttempt(notice)],
    kind === "paused"
      ? "Correct the cause, send a test event and resume the subscription. Ask the sender for a link to your portal."
      : "Correct the endpoint, and send a test event from your portal. Dead letters can be sent again there."
  ]
  return { subject: subjects[kind], text: paragraphs.map((lines) => typeof lines === "string" ? `${lines}\n` : `${lines.join("\n")}\n`).join("\n") }
}

const counts = (notice: Notice): ReadonlyArray<string> => {
  const { dead, inFlight, oldestWaitingAt, waiting } = notice.destination
  const removal = removedAt(notice)
  return [
    ...(inFlight === 0 ? [] : [`${counted(inFlight, "delivery is", "deliveries are")} being sent or ${inFlight === 1 ? "waits" : "wait"} for the next attempt.`]),
    ...(waiting === 0 ? [] : [`${counted(waiting, "entry waits", "entries wait")} to be sent${oldestWaitingAt === undefined ? "" : `, the oldest since ${formatInstant(oldestWaitingAt)}`}.`]),
    ...(removal === undefined ? [] : [`Entries that wait for ${notice.waitingDays} days are removed: the oldest at ${formatInstant(removal)}.`]),
    ...(dead === 0 ? [] : [`${counted(dead, "dead letter", "dead letters")}: all attempts failed.`])
  ]
}

const counted = (count: number, one: string, many: string): string =>
  count === 1 ? `1 ${one}` : `${count >= overviewCount ? `${overviewCount.toLocaleString("en-US")} or more` : count} ${many}`

const lastAttempt = ({ destination: { whenDead }, lastAttemptAt }: Notice): ReadonlyArray<string> =>
  lastAttemptAt === undefined
    ? []
    : [`The last attempt of the oldest delivery is at about ${formatInstant(lastAttemptAt)}. If it fails, ${whenDead === "pause" ? "the subscription is paused" : "the delivery ends as a dead letter"}.`]

const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: overviewCount }))

/** The body of a webhook. */
export const NoticeEvent = Schema.Struct({
  type: Schema.Literals(noticeKinds.map((kind) => `notice.${kind}` as const)).annotate({
    description: "ending: attempts fail, and the last one is near. failing: attempts have failed for long. dead_letter: a delivery has used up its attempts. paused: the service paused the subscription."
  }),
  noticeId: Schema.String.annotate({ description: "The same for each notice of a subscription, type and day." }),
  createdAt: InstantText,
  subscriptionId: Schema.String,
  area: Schema.String,
  endpointUrl: Schema.String,
  inFlight: Count.annotate({ description: "Deliveries that are being sent or wait for their next attempt; 1000 means 1,000 or more." }),
  waiting: Count.annotate({ description: "Entries that are not in a delivery yet; 1000 means 1,000 or more." }),
  oldestWaitingAt: Schema.NullOr(InstantText),
  removedAt: Schema.NullOr(InstantText).annotate({ description: "When the oldest waiting entry is removed, if it is not sent before." }),
  deadLetters: Count.annotate({ description: "1000 means 1,000 or more." }),
  lastAttemptAt: Schema.NullOr(InstantText).annotate({ description: "When the last attempt of the oldest delivery is made, at about." }),
  afterLastAttempt: Schema.Literals(["dead_letter", "paused"]).annotate({ description: "What follows if the last attempt fails: the delivery is a dead letter, and with `paused` the subscription is paused too." }),
  pausedAt: Schema.NullOr(InstantText),
  reason: Schema.NullOr(Schema.String).annotate({ description: "Why the subscription is paused." })
}).annotate({ identifier: "NoticeEvent" })

const encoder = new TextEncoder()

/** The JSON of a notice that is sent as a webhook (`NoticeEvent`). `now` is in milliseconds since 1970. */
export const webhookBodyOf = (notice: Notice, noticeId: string, now: number): Uint8Array => {
  const { destination: { dead, destinationId, endpointUrl, inFlight, oldestWaitingAt, source, status, waiting, whenDead }, kind, lastAttemptAt } = notice
  const isPaused = kind === "paused"
  const event: typeof NoticeEvent.Type = {
    type: `notice.${kind}`,
    noticeId,
    createdAt: formatInstant(now),
    subscriptionId: destinationId,
    area: areaOfSource(source),
    endpointUrl,
    inFlight,
    waiting,
    oldestWaitingAt: instantOrNull(oldestWaitingAt),
    removedAt: instantOrNull(removedAt(notice)),
    deadLetters: dead,
    lastAttemptAt: instantOrNull(lastAttemptAt),
    afterLastAttempt: whenDead === "pause" ? "paused" : "dead_letter",
    pausedAt: isPaused ? formatInstant(status.since) : null,
    reason: isPaused ? status.reason ?? null : null
  }
  return encoder.encode(JSON.stringify(event))
}
