/** Bodies that are about webhooks themselves: notices of failing endpoints, and test events. Neither has freight data. */
import type { OpenList } from "../shared/OpenList.ts"
import { BodyMalformed, checksOf, isObject } from "../shared/ReceivedJson.ts"

/** An endpoint of yours needs attention. */
export interface NoticeEvent {
  /**
   * `notice.ending`: attempts fail, and the last one is near. `notice.failing`: attempts have failed for long. `notice.dead_letter`: a delivery
   * has used up its attempts. `notice.paused`: the service paused the subscription.
   */
  readonly type: OpenList<"notice.ending" | "notice.dead_letter" | "notice.failing" | "notice.paused">
  /** The same for each notice of a subscription, type and day. */
  readonly noticeId: string
  readonly createdAt: string
  /** The subscription that needs attention. */
  readonly subscriptionId: string
  readonly area: string
  readonly endpointUrl: string
  /** Deliveries that are being sent or wait for their next attempt; 1000 means 1,000 or more. */
  readonly inFlight: number
  /** Entries that are not in a delivery yet; 1000 means 1,000 or more. */
  readonly waiting: number
  readonly oldestWaitingAt: string | null
  /** When the oldest waiting entry is removed, if it is not sent before. */
  readonly removedAt: string | null
  /** 1000 means 1,000 or more. */
  readonly deadLetters: number
  /** When the last attempt of the oldest delivery is made, at about. */
  readonly lastAttemptAt: string | null
  /** What follows if the last attempt fails. With `paused` the delivery is a dead letter too. */
  readonly afterLastAttempt: OpenList<"dead_letter" | "paused">
  readonly pausedAt: string | null
  /** Why the subscription is paused. */
  readonly reason: string | null
}

/** Sent when a customer or an operator tests an endpoint. */
export interface WebhookTestEvent {
  readonly type: "webhook.test"
  readonly subscriptionId: string
  readonly sentAt: string
  /** Text for people. */
  readonly message: string
}

/** The body is neither a notice nor a test event. `pointer` is the location of the error. */
export class NoticeMalformed extends BodyMalformed {
  override readonly name = "NoticeMalformed"
}

const { object, text } = checksOf(NoticeMalformed)

export const isNotice = (body: unknown): boolean => isObject(body) && typeof body["type"] === "string" && body["type"].startsWith("notice.")

export const isWebhookTest = (body: unknown): boolean => isObject(body) && body["type"] === "webhook.test"

/** Checks only what a receiver relies on: the ids. */
export const checkNotice = (body: unknown): NoticeEvent => {
  const notice = object("", body)
  for (const name of ["noticeId", "subscriptionId"]) text(`/${name}`, notice[name])
  return notice as unknown as NoticeEvent
}

export const checkWebhookTest = (body: unknown): WebhookTestEvent => {
  const test = object("", body)
  text("/subscriptionId", test["subscriptionId"])
  return test as unknown as WebhookTestEvent
}
