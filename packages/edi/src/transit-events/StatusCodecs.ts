/** Codecs of 214: the status of AT7, its reason and its time, and the place of MS1. */
import { parseInstant } from "@waybill/core"
import { calendarDate, clockTime, type Codec, type ReadContext, type WriteContext } from "../mapping/Codec.ts"
import { own } from "../mapping/Members.ts"
import { elementFaults } from "../x12/EdiFault.ts"
import { codeOfOffset, offsetOf, zoned } from "./LocalTime.ts"
import { appointmentCodes, codeOfType, delayReasons, normalAppointment, statusCodes } from "./StatusCodes.ts"

/** Members: type, status, statusCode, appointmentCode, exception, custody, appointmentStatus. Elements: AT7-01, AT7-03. */
export const statusCodec: Codec = {
  note: "the codes are in the tables below; a code that is not is `OTHER`, with a warning",
  read: ([status = "", appointment = ""], { partner, warn }) => {
    if (status !== "" && appointment !== "") return { wrong: 1, code: elementFaults.exclusion, detail: "AT7 has a status or an appointment, not both." }
    if (status !== "") {
      const agreed = own(partner.codes?.statusIn ?? {}, status)
      const known = own(statusCodes, status)
      if (agreed === undefined && known === undefined) warn(0, `Status code ${status} is unknown. Name its event type in the partner profile.`)
      return agreed === undefined || agreed === known?.type
        ? [known?.type ?? "OTHER", known?.status ?? `Status code ${status}`, status, undefined, known?.exception, known?.custody, undefined]
        : [agreed, `Status code ${status}`, status, undefined, undefined, undefined, undefined]
    }
    const known = own(appointmentCodes, appointment)
    if (known === undefined) warn(1, `Appointment code ${appointment} is unknown.`)
    return [known?.type ?? "OTHER", known?.status ?? `Appointment code ${appointment}`, undefined, appointment, undefined, undefined, known?.change]
  },
  write: ([type, status, statusCode, appointmentCode, exception, custody, appointmentStatus], { lose, look, partner }) => {
    const isAppointment = appointmentCode !== undefined || (type === "OTHER" && appointmentStatus === "appointment scheduled" && look("attributes.appointmentDate") !== undefined)
    if (isAppointment && statusCode === undefined) {
      const code = typeof appointmentCode === "string" ? appointmentCode : "AB"
      const known = own(appointmentCodes, code)
      loseUnless(lose, [[0, type, known?.type ?? "OTHER"], [1, status, known?.status ?? `Appointment code ${code}`], [4, exception, undefined], [5, custody, undefined], [6, appointmentStatus, known?.change]])
      return ["", code]
    }
    const code = codeOf(type, statusCode, exception, custody, partner)
    if (code === undefined) return undefined
    const agreed = own(partner.codes?.statusIn ?? {}, code)
    const known = own(statusCodes, code)
    const plain = agreed === undefined || agreed === known?.type
    loseUnless(lose, [
      [1, status, plain ? known?.status ?? `Status code ${code}` : `Status code ${code}`],
      [4, exception, plain ? known?.exception : undefined],
      // custody of the consignee is what a delivery says
      [5, custody === "consignee" && type === "DELIVERED" ? undefined : custody, plain ? known?.custody : undefined],
      [6, appointmentStatus, undefined]
    ])
    return [code, ""]
  }
}

const loseUnless = (lose: WriteContext["lose"], members: ReadonlyArray<readonly [index: number, member: unknown, read: unknown]>) => {
  for (const [index, member, read] of members) if (member !== undefined && member !== read) lose(index, "the code does not say it")
}

/** The event's own code if it says what the event says; else the partner's or the usual one of its type. */
const codeOf = (type: unknown, statusCode: unknown, exception: unknown, custody: unknown, partner: ReadContext["partner"]): string | undefined => {
  const typeOf = (code: string) => own(partner.codes?.statusIn ?? {}, code) ?? own(statusCodes, code)?.type ?? "OTHER"
  if (typeof statusCode === "string" && typeOf(statusCode) === type) return statusCode
  const agreed = own(partner.codes?.statusOut ?? {}, type)
  if (agreed !== undefined) return agreed
  if (type === "IN_TRANSIT" && custody === "partner") return "J1"
  if (type === "EXCEPTION") return Object.keys(statusCodes).find((code) => exception !== undefined && statusCodes[code]!.exception === exception)
  return typeof type === "string" ? codeOfType(type) : undefined
}

/** Members: reasonCode, delayReasonCode. Elements: AT7-02 or AT7-04. */
export const reasonCodec = (normal: string, status: number): Codec => ({
  note: `${normal} says that nothing is special, and is not kept; delay reason codes: ${Object.entries(delayReasons).map(([code, reason]) => `${code} ${reason}`).join(", ")}`,
  read: ([code = ""], { look, partner, warn }) => {
    if (code === normal || code === normalAppointment) {
      if (look("AT7", 1) === "SD") warn(0, "A delay needs a reason, and this one has none.")
      return [undefined, undefined]
    }
    return [code, own(partner.codes?.reasonIn ?? {}, code) ?? own(delayReasons, code)]
  },
  write: ([reasonCode, delayReasonCode], { lose, look, partner, version }) => {
    const isOfAppointment = look("attributes.edi.appointmentCode") !== undefined || look("attributes.appointmentDate") !== undefined && look("attributes.edi.statusCode") === undefined
    if (isOfAppointment === (status === 1)) return undefined
    const reasons = { ...delayReasons, ...partner.codes?.reasonIn }
    if (typeof reasonCode === "string") {
      if (delayReasonCode !== undefined && own(reasons, reasonCode) !== delayReasonCode) lose(1, "the reason code stands for another one")
      return [reasonCode]
    }
    const found = Object.keys(reasons).find((code) => reasons[code] === delayReasonCode)
    if (delayReasonCode !== undefined && found === undefined) lose(1, "no reason code stands for it")
    // 004010 wants a reason with every status
    return found !== undefined ? [found] : version < "004030" ? [normal] : undefined
  }
})

/** Members: occurredAt, updatedEta, appointmentDate, estimatedAt, timeCode. Elements: AT7-05, 06, 07. */
export const timeCodec: Codec = {
  note: "the code of an estimate or an appointment decides which member; the offset is that of the time code, of the state in MS1-02, or of the partner profile; hundredths of a second at most",
  read: ([date = "", time = "", code = ""], context) => {
    const { group, look, partner, warn } = context
    const day = calendarDate(date)
    if (day === undefined) return { wrong: 0, code: elementFaults.date, detail: "AT7-05 is a date as CCYYMMDD." }
    const [, hour, minute, second = "00", hundredths] = clockTime.exec(time) ?? []
    if (time !== "" && hour === undefined) return { wrong: 1, code: elementFaults.time, detail: "AT7-06 is a time as HHMM, HHMMSS, HHMMSSD or HHMMSSDD." }
    const kind = kindOf(look("AT7", 1), look("AT7", 3), partner)
    const ofDates = partner.times?.ofDates
    if (hour === undefined && ofDates === undefined) {
      // an estimate may be a date; what happened needs a time
      if (kind !== "delivery-estimate" && kind !== "appointment") return { wrong: 1, code: elementFaults.missing, detail: "The status has a date without a time. Name a time of day for such dates in the partner profile, times.ofDates." }
      const reported = reportedAt(group, partner)
      return reported === undefined ? undated : membersOf(kind, day, reported, undefined)
    }
    const local = `${day}T${hour === undefined ? `${ofDates}:00` : `${hour}:${minute}:${second}`}${hundredths === undefined ? "" : `.${hundredths}`}`
    const found = zoned(local, code, { state: look("MS1", 2), country: look("MS1", 3) }, partner)
    if (found === undefined) {
      return { wrong: code === "" || code === "LT" ? 1 : 2, code: elementFaults.code, detail: "The time is local, and its zone is not known. Name it in the partner profile, times.zone or times.states." }
    }
    if (found.isAmbiguous) warn(1, `The clock shows ${local.slice(11, 16)} twice on this day. The earlier one was taken.`)
    const occurredAt = kind === "occurred" ? found.text : reportedAt(group, partner)
    return occurredAt === undefined ? undated : membersOf(kind, found.text, occurredAt, code === "" ? undefined : code)
  },
  write: ([occurredAt, updatedEta, appointmentDate, estimatedAt, timeCode], { lose, look, partner }) => {
    const kind = kindOf(String(look("attributes.edi.statusCode") ?? ""), String(look("attributes.edi.appointmentCode") ?? (look("type") === "OTHER" && appointmentDate !== undefined && look("attributes.edi.statusCode") === undefined ? "AB" : "")), partner)
    const values = { occurred: occurredAt, "delivery-estimate": updatedEta, appointment: appointmentDate, estimate: estimatedAt }
    for (const [index, name] of (["occurred", "delivery-estimate", "appointment", "estimate"] as const).entries()) {
      if (name !== kind && values[name] !== undefined) lose(index, "AT7 has one time, and the code says which")
    }
    const value = values[kind]
    const texts = typeof value === "string" ? written(value, timeCode, partner, lose) : undefined
    if (texts !== undefined && timeCode !== undefined && texts[2] !== timeCode) lose(4, "the time is written with another code")
    return texts
  }
}

type TimeKind = "occurred" | "delivery-estimate" | "estimate" | "appointment"

const kindOf = (status: string, appointment: string, partner: ReadContext["partner"]): TimeKind => {
  if (appointment !== "") return "appointment"
  const known = own(statusCodes, status)
  const agreed = own(partner.codes?.statusIn ?? {}, status)
  // a code that the partner redefines is no estimate any more
  return agreed !== undefined && agreed !== known?.type ? "occurred" : known?.time ?? "occurred"
}

/** An estimate has the time at which its group was written. */
const undated = { wrong: 0, code: elementFaults.date, detail: "AT7-05 is an expected time, and GS-04 and GS-05 do not say when it was reported." }

const membersOf = (kind: TimeKind, at: string, occurredAt: string, timeCode: string | undefined): ReadonlyArray<unknown> => [
  occurredAt,
  kind === "delivery-estimate" ? at : undefined,
  kind === "appointment" ? at : undefined,
  kind === "estimate" ? at : undefined,
  timeCode
]

/** When the group was written: GS-04 and GS-05, in the zone of the profile. UTC without one, because GS has no zone. */
const reportedAt = ({ date, time }: ReadContext["group"], partner: ReadContext["partner"]): string | undefined => {
  const day = calendarDate(date)
  const [, hour, minute, second = "00"] = clockTime.exec(time) ?? []
  if (day === undefined || hour === undefined) return undefined
  return zoned(`${day}T${hour}:${minute}:${second}`, partner.times?.zone === undefined ? "UT" : "LT", undefined, partner)?.text
}

const written = (value: string, timeCode: unknown, partner: WriteContext["partner"], lose: WriteContext["lose"]): ReadonlyArray<string> | undefined => {
  if (/^\d{4}-\d\d-\d\d$/u.test(value)) return [value.replaceAll("-", ""), "", ""]
  const instant = parseInstant(value)
  if (instant === undefined) return undefined
  const [local = "", offset] = localOf(value, instant, timeCode, partner)
  const hundredths = local.slice(20, 22)
  if (Number(local.slice(22).replace("Z", "")) > 0) lose(0, "hundredths of a second are the smallest part")
  const seconds = local.slice(17, 19)
  const end = Number(hundredths) > 0 ? `${seconds}${hundredths}` : Number(seconds) > 0 ? seconds : ""
  return [local.slice(0, 10).replaceAll("-", ""), `${local.slice(11, 13)}${local.slice(14, 16)}${end}`, offset ?? ""]
}

/** The clock's text as `CCYY-MM-DDTHH:MM:SS.mmm`, and its code. */
const localOf = (value: string, instant: number, timeCode: unknown, partner: WriteContext["partner"]): readonly [string, string] => {
  const shifted = (minutes: number) => new Date(instant + minutes * 60_000).toISOString()
  const offset = minutesOf(value)
  // the time was read with this code, and says the same with it
  if (typeof timeCode === "string") {
    const again = zoned(shifted(offset).slice(0, 19), timeCode, undefined, partner)
    if (timeCode !== "LT" && again !== undefined && minutesOf(again.text) === offset) return [shifted(offset), timeCode]
    if (timeCode === "LT") return [shifted(offset), "LT"]
  }
  const zone = partner.times?.zone
  if (partner.times?.write === "local" && zone !== undefined) return [shifted(offsetOf(zone, instant)), "LT"]
  const code = partner.times?.write === "offset" ? codeOfOffset(offset) : undefined
  return code === undefined ? [shifted(0), "UT"] : [shifted(offset), code]
}

const minutesOf = (text: string): number => {
  const [, sign, hours, minutes] = /([+-])(\d\d):(\d\d)$/u.exec(text) ?? []
  return sign === undefined ? 0 : (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}

/** Members: longitude, latitude. Elements: MS1-04 to 07: degrees, minutes and seconds, and a direction. */
export const coordinates: Codec = {
  note: "degrees, minutes and seconds; west unless MS1-06 says east, north unless MS1-07 says south; with MS1-01 they are not written",
  read: ([longitude = "", latitude = "", east = "", north = ""]) => {
    const [x, y] = [degrees(longitude), degrees(latitude)]
    if (x === undefined || x > 180) return { wrong: 0, code: elementFaults.character, detail: "MS1-04 is a longitude as DDDMMSS." }
    if (y === undefined || y > 90) return { wrong: 1, code: elementFaults.character, detail: "MS1-05 is a latitude as DDDMMSS." }
    return [east === "E" ? x : -x || 0, north === "S" ? -y || 0 : y]
  },
  write: ([longitude, latitude], { look, lose }) => {
    if (typeof longitude !== "number" || typeof latitude !== "number") return undefined
    if (look("location.city") !== undefined) return undefined
    const [x, y] = [sexagesimal(longitude), sexagesimal(latitude)]
    if (degrees(x) !== Math.abs(longitude)) lose(0, "rounded to a second of arc")
    if (degrees(y) !== Math.abs(latitude)) lose(1, "rounded to a second of arc")
    return [x, y, longitude > 0 ? "E" : "W", latitude < 0 ? "S" : "N"]
  }
}

const degrees = (text: string): number | undefined => {
  const [, degree, minute, second] = /^(\d{3})([0-5]\d)([0-5]\d)(?:\.\d{1,2})?$/u.exec(text) ?? []
  return degree === undefined ? undefined : Math.round((Number(degree) + Number(minute) / 60 + Number(second) / 3600) * 1e6) / 1e6
}

const sexagesimal = (value: number): string => {
  const seconds = Math.round(Math.abs(value) * 3600)
  const two = (part: number) => String(part).padStart(2, "0")
  return `${String(Math.floor(seconds / 3600)).padStart(3, "0")}${two(Math.floor(seconds / 60) % 60)}${two(seconds % 60)}`
}
