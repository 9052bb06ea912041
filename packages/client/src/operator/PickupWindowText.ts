/** The times between which a truck may come, as one text for a row of a list. */
import type { OperatorPickup } from "./OperatorPickup.ts"

/** A local time as shippers send it; seconds that are zero are left out. */
const localTime = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)?(?:\.\d+)?$/

/** `2026-11-20 08:00 to 16:00, UTC-6`: local times of the shipper. A text that is no local time stays as it was sent. */
export const pickupWindowText = ({ closeTime, readyDate, readyTime, timeZone }: OperatorPickup["readyWindow"]): string => {
  let day = readyDate
  const after = (text: string): string => {
    const [, date, minute, second = ""] = localTime.exec(text) ?? []
    if (date === undefined) return text
    const shown = `${date === day ? "" : `${date} `}${minute}${second === ":00" ? "" : second}`
    day = date
    return shown
  }
  const ready = readyTime === null ? null : after(readyTime)
  const close = closeTime === null ? null : after(closeTime)
  const times = [ready, close && `${ready ? "to" : "until"} ${close}`]
  return [[readyDate, ...times].filter((text) => text).join(" "), timeZone].filter((text) => text).join(", ") || "no time given"
}
