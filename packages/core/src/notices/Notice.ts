/** What a customer is told of a subscription in trouble. It has no freight data: mail is not encrypted end to end. */
import type { DestinationOverview } from "../delivery/DeliveryQueue.ts"
import { formatInstant } from "../shared/Instant.ts"
import type { NoticeKind } from "./NoticeStore.ts"

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
  ending: "Your webhook fails: attempts end soon"
}

/** Subject and plain text of a mail. */
export const mailOf = (notice: Notice): { readonly subject: string; readonly text: string } => {
  const { destination: { destinationId, endpointUrl, status }, kind } = notice
  const paragraphs = [
    `Subscription ${destinationId}\nEndpoint ${endpointUrl}`,
    kind === "paused"
      ? [`The subscription is paused since ${formatInstant(status.since)}.${status.reason === undefined ? "" : ` ${status.reason}`}`, ...counts(notice)]
      : ["The endpoint does not accept deliveries.", ...counts(notice), ...lastAttempt(notice)],
    kind === "paused"
      ? "Correct the endpoint, send a test event and resume the subscription. Ask the sender for a link to your portal."
      : "Correct the endpoint, and send a test event from your portal. Dead letters can be sent again there."
  ]
  return { subject: subjects[kind], text: paragraphs.map((lines) => typeof lines === "string" ? `${lines}\n` : `${lines.join("\n")}\n`).join("\n") }
}

const counts = (notice: Notice): ReadonlyArray<string> => {
  const { dead, oldestWaitingAt, waiting } = notice.destination
  const removal = removedAt(notice)
  return [
    `${waiting >= 1000 ? "1,000 or more" : waiting} ${waiting === 1 ? "entry waits" : "entries wait"}${oldestWaitingAt === undefined ? "" : `, the oldest since ${formatInstant(oldestWaitingAt)}`}.`,
    ...(removal === undefined ? [] : [`Entries that wait for ${notice.waitingDays} days are removed: the oldest at ${formatInstant(removal)}.`]),
    ...(dead === 0 ? [] : [`${dead >= 1000 ? "1,000 or more dead letters" : dead === 1 ? "1 dead letter" : `${dead} dead letters`}: all attempts failed.`])
  ]
}

const lastAttempt = ({ destination: { whenDead }, lastAttemptAt }: Notice): ReadonlyArray<string> =>
  lastAttemptAt === undefined
    ? []
    : [`The last attempt of the oldest delivery is at about ${formatInstant(lastAttemptAt)}. If it fails, ${whenDead === "pause" ? "the subscription is paused" : "the delivery ends as a dead letter"}.`]
