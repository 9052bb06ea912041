/** Codecs of 204: the purpose of the order, times and whole weights. */
import type { Codec } from "../mapping/Codec.ts"
import { elementFaults } from "../x12/EdiFault.ts"

/** B2A-01. Changes and cancellations need the carrier's number of the pickup, which 204 does not have. */
export const onlyOriginals: Codec = {
  note: "only 00, an original order, is read; a change or a cancellation is refused",
  read: ([code = ""]) => code === "00" ? [] : { wrong: 0, code: elementFaults.code, detail: `Only original orders (00) are read, and this is ${JSON.stringify(code.slice(0, 10))}. Call the carrier for a change.` },
  write: () => undefined
}

/** Qualifiers of G62-01: not before, requested and scheduled pickup. */
const ready = new Set(["10", "37", "69"])
/** Not later than. */
const close = new Set(["38"])

/** Members: readyDate, readyTime, closeTime. Elements: G62-01 to 04. Times are local, as areas of pickups have them. */
export const pickupTime: Codec = {
  note: "10, 37 and 69 are the earliest time, 38 is the latest; others are kept; times are local",
  read: ([qualifier = "", date = "", , time = ""], { keep }) => {
    if (!ready.has(qualifier) && !close.has(qualifier)) {
      for (const index of [0, 1, 2, 3]) keep(index)
      return []
    }
    const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/u.exec(date) ?? []
    if (year === undefined) return { wrong: 1, code: elementFaults.date, detail: "G62-02 is a date as CCYYMMDD." }
    const [, hour, minute] = /^([01]\d|2[0-3])([0-5]\d)/u.exec(time) ?? []
    if (time !== "" && hour === undefined) return { wrong: 3, code: elementFaults.time, detail: "G62-04 is a time as HHMM." }
    const at = hour === undefined ? undefined : `${year}-${month}-${day}T${hour}:${minute}:00`
    return close.has(qualifier) ? [undefined, undefined, at] : [`${year}-${month}-${day}`, at, undefined]
  },
  write: () => undefined
}

/** Pickups have whole numbers. */
export const whole = (most: number): Codec => ({
  note: `a whole number, rounded up, at most ${most}`,
  read: ([value = ""], { warn }) => {
    const number = Number(value)
    if (!/^\d+(?:\.\d*)?$/u.test(value) || Math.ceil(number) > most) return { wrong: 0, code: elementFaults.character, detail: `${JSON.stringify(value.slice(0, 20))} is not a number from 0 to ${most}.` }
    if (!Number.isInteger(number)) warn(0, `${value} is rounded up to ${Math.ceil(number)}.`)
    return [Math.ceil(number)]
  },
  write: () => undefined
})

/** Member: cubicFeet. Elements: L3-09, 10. */
export const cubicFeet: Codec = {
  note: "cubic feet (E), rounded up; other units are kept",
  read: ([volume = "", unit = ""], context) => {
    if (unit === "E") return whole(1_000_000).read([volume], context)
    for (const index of [0, 1]) context.keep(index)
    return []
  },
  write: () => undefined
}
