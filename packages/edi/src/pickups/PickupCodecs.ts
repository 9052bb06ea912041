/** Codecs of orders (204, 211, 216): purpose, times, whole weights and commodity codes. Orders are read only. */
import { calendarDate, clockTime, type Codec, type Read, unsignedNumber } from "../mapping/Codec.ts"
import { own } from "../mapping/Members.ts"
import { elementFaults } from "../x12/EdiFault.ts"

const readOnly = (note: string, read: Codec["read"]): Codec => ({ note, read, write: () => undefined })

/** B2A-01 and PUN-06. Changes and cancellations need the carrier's number of the pickup, which these sets do not have. */
export const onlyOriginals: Codec = readOnly("only 00, an original order, is read; a change or a cancellation is refused", ([code = ""]) =>
  code === "00" ? [] : { wrong: 0, code: elementFaults.code, detail: `Only original orders (00) are read, and this is ${JSON.stringify(code.slice(0, 10))}. Call the carrier for a change.` })

/** Qualifiers of G62-01: requested pickup, not before, scheduled pickup. */
const ready = new Set(["10", "37", "69"])
/** Ship not later than. */
const close = new Set(["38"])
/** Of the delivery: not before, not later than, requested or scheduled. */
const deliveries: Readonly<Record<string, number>> = { "53": 3, "54": 4, "02": 5, "68": 5, "70": 5 }

interface Local {
  readonly date: string
  readonly at: string | undefined
}

const localOf = (date: string, time: string, dateIndex: number, timeIndex: number): Local | Exclude<Read, ReadonlyArray<unknown>> => {
  const day = calendarDate(date)
  if (day === undefined) return { wrong: dateIndex, code: elementFaults.date, detail: "A date is CCYYMMDD." }
  const [, hour, minute] = clockTime.exec(time) ?? []
  if (time !== "" && hour === undefined) return { wrong: timeIndex, code: elementFaults.time, detail: "A time is HHMM." }
  return { date: day, at: hour === undefined ? undefined : `${day}T${hour}:${minute}:00` }
}

/** Members: readyDate, readyTime, closeTime, deliverFrom, deliverBy, deliverOn. Elements: G62-01 to 04. Times are local, as areas of pickups have them. */
export const pickupTime: Codec = readOnly(
  "10, 37 and 69 are the earliest time of the pickup, 38 is the latest; 53 is the earliest time of the delivery, 54 the latest, and 02, 68 and 70 its date; others are kept; times are local",
  ([qualifier = "", date = "", , time = ""], { keep }) => {
    const delivery = own(deliveries, qualifier)
    if (!ready.has(qualifier) && !close.has(qualifier) && delivery === undefined) {
      for (const index of [0, 1, 2, 3]) keep(index)
      return []
    }
    const local = localOf(date, time, 1, 3)
    if ("wrong" in local) return local
    if (delivery !== undefined) return Array.from({ length: 6 }, (_, index) => index === delivery ? local.at ?? local.date : undefined)
    if (!close.has(qualifier)) return [local.date, local.at, undefined]
    // the latest time of a pickup has no member for a date alone
    if (local.at === undefined) for (const index of [0, 1, 2]) keep(index)
    return [undefined, undefined, local.at]
  }
)

/** Members: readyDate, readyTime. Elements: a date and a time. */
export const readyAt: Codec = readOnly("times are local", ([date = "", time = ""]) => {
  const local = localOf(date, time, 0, 1)
  return "wrong" in local ? local : [local.date, local.at]
})

/** A time of the day that another element names. */
export const clock = (segment: string, dateElement: number): Codec => readOnly("local time of the same day", ([time = ""], { look }) => {
  const local = localOf(look(segment, dateElement), time, 0, 0)
  return "wrong" in local ? { ...local, wrong: 0 } : [local.at]
})

/** Pickups have whole numbers. */
export const whole = (most: number): Codec => readOnly(`a whole number, rounded up, at most ${most}`, ([value = ""], { warn }) => {
  const number = Number(value)
  if (!unsignedNumber.test(value) || Math.ceil(number) > most) return { wrong: 0, code: elementFaults.character, detail: `${JSON.stringify(value.slice(0, 20))} is not a number from 0 to ${most}.` }
  if (!Number.isInteger(number)) warn(0, `${value} is rounded up to ${Math.ceil(number)}.`)
  return [Math.ceil(number)]
})

/** Other units are refused: tons that are taken for pounds would order too small a truck. */
export const unit: Codec = readOnly("L LB, K KG; an order in another unit is refused", ([code = ""]) => {
  const found = own({ L: "LB", K: "KG" }, code)
  return found === undefined ? { wrong: 0, code: elementFaults.code, detail: `Weights are in pounds (L) or kilograms (K), not ${JSON.stringify(code.slice(0, 10))}.` } : [found]
})

/** The sum of two counts, of which one may be absent. */
export const unitsOf = (most: number): Codec => readOnly(`their sum, at most ${most}`, (texts, context) => {
  let sum = 0
  for (const [index, text] of texts.entries()) {
    if (text === "") continue
    const read = whole(most).read([text], { ...context, warn: (_, detail) => context.warn(index, detail) })
    if ("wrong" in read) return { ...read, wrong: index }
    sum += read[0] as number
  }
  return sum > most ? { wrong: 0, code: elementFaults.character, detail: `The sum is more than ${most}.` } : [sum]
})

/** Member: cubicFeet. Elements: a volume and its unit. */
export const cubicFeet: Codec = readOnly("cubic feet (E), rounded up; other units are kept", ([volume = "", unit = ""], context) => {
  if (unit === "E") return whole(1_000_000).read([volume], context)
  for (const index of [0, 1]) context.keep(index)
  return []
})

/** Members: nmfc, nmfcSub. `12345-02` has a sub number. */
export const nmfcNumber: Codec = readOnly("`12345-02` is the item and its sub number", ([code = ""]) => {
  const [, item, sub] = /^\s*(\d+)-(\d+)\s*$/u.exec(code) ?? []
  return item === undefined ? [code.trim() || undefined] : [item, sub]
})

/** Members: nmfc, nmfcSub. Elements: a commodity code and its qualifier. */
export const nmfc: Codec = readOnly("with the qualifier N, `12345-02` is the item and its sub number; others are kept", ([code = "", qualifier = ""], context) => {
  if (qualifier === "N" && code !== "") return nmfcNumber.read([code], context)
  for (const index of [0, 1]) context.keep(index)
  return []
})

/** Members: serviceCode, serviceDescription. Elements: AT5-01, 02, 03. */
export const service: Codec = readOnly("codes stay as they are", ([handling = "", special = "", description = ""], { keep }) => {
  // the service is what is charged
  if (handling !== "" && special !== "") keep(0)
  return [special || handling || undefined, description.trimEnd() || undefined]
})

/** Member: trailerNumber. Elements: initial or owner, and number. */
export const trailer: Codec = readOnly("the owner and the number, without a blank", ([owner = "", number = ""], { keep }) => {
  if (number !== "") return [`${owner}${number}`]
  keep(0)
  return []
})

/** Member: hazmatCheck. */
export const isHazardous: Codec = readOnly("a line with LH1 is hazardous; LH2 or LH3 without it make the first line so; all their elements are kept", (_, { keep }) => {
  for (const index of [0, 1]) keep(index)
  return [true]
})
