/** Broken implementations of hourly and daily notifications. */
import { changingBody, delivering, type Json, type Mutant } from "./Mutations.ts"

const charges = /^\/pfc\/v1\/subscriptions$/u

/** Subscribes in real time instead. */
const inRealTime = (frequency: string) => changingBody("POST", charges, (json) => json.frequency === frequency ? { ...json, frequency: "real_time" } : json)

/** Notifications of the customer's bills never arrive. */
const lost: Pick<Mutant, "delivery"> = { delivery: (delivery) => delivery.body.includes("\"A-") ? "swallow" : delivery }

/** Every bill twice. */
const twice = delivering((list: ReadonlyArray<Json>) => [...list, ...list])

export const windowMutants: ReadonlyArray<Mutant> = [
  { rule: "e-hourly-waits", name: "hourly is in real time", seen: "were both sent at once", ...inRealTime("hourly") },
  { rule: "e-daily-waits", name: "daily is in real time", seen: "were both sent at once", ...inRealTime("daily") },
  { rule: "e-hourly-sent", name: "hourly notifications are lost", seen: "the hour ended without a notification", ...lost },
  { rule: "e-daily-sent", name: "daily notifications are lost", seen: "the day ended without a notification", ...lost },
  { rule: "e-hourly-latest", name: "every version at the end of the hour", seen: "came 2 times when the hour ended", ...twice },
  { rule: "e-daily-latest", name: "every version at the end of the day", seen: "came 2 times when the day ended", ...twice }
]
