/** How the texts of elements become members, and back. */
import { parseInstant } from "@waybill/core"
import type { PartnerProfile } from "../partners/PartnerProfile.ts"
import type { Group } from "../x12/Interchange.ts"
import { elementFaults } from "../x12/EdiFault.ts"
import { declared, reserved, usualDelimiters } from "../x12/Delimiters.ts"
import { encodable } from "../x12/Encoding.ts"
import { own } from "./Members.ts"

/** The context in which a codec reads. */
export interface ReadContext {
  readonly partner: PartnerProfile
  readonly group: Group
  /** The text of another element in the same loop or around it; empty if it is absent. */
  readonly look: (segment: string, element: number) => string
  /** Adds a warning about an element that was read but looks wrong. `index`: of the rule's elements. */
  readonly warn: (index: number, detail: string) => void
  /** The element at this index has no member: it is kept and listed. */
  readonly keep: (index: number) => void
}

/** The context in which a codec writes. */
export interface WriteContext {
  readonly partner: PartnerProfile
  readonly version: string
  /** A member of the record that is written. */
  readonly look: (path: string) => unknown
  /** The member at this index is not written as it is. */
  readonly lose: (index: number, reason: string) => void
}

/** Members in the order of the rule; or the fault of the element at an index. */
export type Read = ReadonlyArray<unknown> | { readonly wrong: number; readonly code: string; readonly detail: string }

/** Turns texts of elements into values and back. */
export interface Codec {
  /** For the table: how a value changes on its way. Empty if it does not. */
  readonly note: string
  readonly read: (texts: ReadonlyArray<string>, context: ReadContext) => Read
  /** Texts in the order of the rule; `undefined`: nothing can be written. Members may be `undefined`. */
  readonly write: (members: ReadonlyArray<unknown>, context: WriteContext) => ReadonlyArray<string> | undefined
}

export const isWrong = (read: Read): read is Exclude<Read, ReadonlyArray<unknown>> => "wrong" in read

/** Characters that no segment may have, and halves of characters. */
const unwritable = /[\u0000-\u001f\u007f-\u009f\ud800-\udfff\ufffd]/gu

/** Free text with a delimiter, which only a release character can carry, gets a space for it: a remark must not keep back its status. */
const undivided = (text: string, { partner, version }: WriteContext): string => {
  const { release, ...delimiters } = declared(partner.delimiters ?? usualDelimiters, version)
  if (release !== undefined) return text
  return reserved(delimiters).reduce((safe, each) => safe.replaceAll(each, " "), text)
}

const dividingCharacter = "it has a delimiter of the partner profile"

const foreignCharacter = "the encoding of the partner profile does not have all of its characters"

/** Text that is cut to fit. */
export const text = (most: number): Codec => ({
  note: "",
  read: ([value = ""]) => [value.trimEnd() || undefined],
  write: ([value], context) => {
    const { lose, partner } = context
    if (typeof value !== "string") return undefined
    const clean = value.replace(unwritable, " ").trim()
    if (clean !== value) lose(0, "control characters and spaces at its ends are left out")
    const foreign = encodable(clean, partner.encoding)
    if (foreign !== clean) lose(0, foreignCharacter)
    const written = undivided(foreign, context).trim()
    if (written !== foreign) lose(0, dividingCharacter)
    if (written.length > most) lose(0, `the element has at most ${most} characters`)
    const cut = written.slice(0, most).replace(unwritable, "").trimEnd()
    return cut === "" ? undefined : [cut]
  }
})

/** An identifying number: it is written whole or not at all. */
export const identifier = (most: number): Codec => ({
  note: "",
  read: ([value = ""]) => [value.trim() || undefined],
  write: ([value], context) => {
    const { lose, partner } = context
    if (typeof value !== "string" || value === "") return undefined
    const isForeign = encodable(value, partner.encoding) !== value
    if (isForeign || undivided(value, context) !== value) {
      lose(0, isForeign ? foreignCharacter : dividingCharacter)
      return undefined
    }
    if (value.length <= most && value.trim() === value && value.search(unwritable) === -1) return [value]
    lose(0, `the element has at most ${most} characters`)
    return undefined
  }
})

/** K1-01 and 02: one remark, whose second line is the second element. */
export const remark: Codec = {
  note: "at most two lines of 30 characters",
  read: (lines) => [lines.map((line) => line.trimEnd()).filter((line) => line !== "").join("\n") || undefined],
  write: ([value], context) => {
    if (typeof value !== "string") return undefined
    const [first = "", second, ...others] = value.split("\n")
    if (others.length > 0) context.lose(0, "the segment has two lines")
    const lines = [first, ...second === undefined ? [] : [second]].flatMap((line) => text(30).write([line], context) ?? [])
    return lines.length === 0 ? undefined : lines
  }
}

/** A text that is the same in every set. Reading ignores it. */
export const constant = (value: string): Codec => ({ note: `always ${value}`, read: () => [], write: () => [value] })

/** A code and its meaning. Codes that are not in the table are kept. */
export const coded = (table: Readonly<Record<string, string>>): Codec => {
  const back = new Map<string, string>()
  for (const [code, meaning] of Object.entries(table)) if (!back.has(meaning)) back.set(meaning, code)
  return {
    note: Object.entries(table).map(([code, meaning]) => `${code} ${meaning}`).join(", "),
    read: ([code = ""], { keep }) => {
      const meaning = own(table, code)
      if (meaning === undefined) keep(0)
      return [meaning]
    },
    write: ([meaning], { lose }) => {
      const code = typeof meaning === "string" ? back.get(meaning) : undefined
      if (code === undefined && meaning !== undefined) lose(0, "it has no code")
      return code === undefined ? undefined : [code]
    }
  }
}

/** Where the partner profile has its own names and codes, and the end of the reason for a name without a code. */
interface Agreement {
  readonly agreed: (partner: PartnerProfile) => Readonly<Record<string, string>> | undefined
  readonly isCode: RegExp
  readonly missing: string
}

/** A code with a usual name, or the partner's own. Codes without a name stay unchanged; names without a code are not written. */
export const named = (usual: Readonly<Record<string, string>>, { agreed, isCode, missing }: Agreement): Pick<Codec, "read" | "write"> => ({
  read: ([code = ""], { partner }) => [Object.entries(agreed(partner) ?? {}).find(([, written]) => written === code)?.[0] ?? own(usual, code) ?? code],
  write: ([name], { lose, partner }) => {
    if (typeof name !== "string") return undefined
    const code = own(agreed(partner) ?? {}, name) ?? Object.keys(usual).find((each) => usual[each] === name)
    if (code !== undefined || (isCode.test(name) && !Object.hasOwn(usual, name))) return [code ?? name]
    lose(0, `${JSON.stringify(name.slice(0, 40))} ${missing}`)
    return undefined
  }
})

/** `USA` in Waybill; two letters are usual in X12, and both are read. */
const countries: Readonly<Record<string, string>> = { US: "USA", CA: "CAN", MX: "MEX" }

export const country: Codec = {
  note: "US, CA and MX are written with two letters, other countries with three; two letters of other countries are kept and listed",
  read: ([code = ""], { keep }) => {
    const plain = code.trim().toUpperCase()
    const found = own(countries, plain) ?? (/^[A-Z]{3}$/u.test(plain) ? plain : undefined)
    if (found === undefined) keep(0)
    return [found]
  },
  write: ([code]) => typeof code !== "string" ? undefined : [Object.keys(countries).find((short) => countries[short] === code) ?? code]
}

/** Keeps a decimal number as its text, without losing digits. */
export const decimal = (most: number): Codec => ({
  note: "exact, as text",
  read: ([value = ""]) => {
    if (value === "") return [undefined]
    const plain = plainDecimal(value)
    return plain === undefined ? { wrong: 0, code: elementFaults.character, detail: `${JSON.stringify(value.slice(0, 40))} is not a number.` } : [plain]
  },
  write: ([value], { lose }) => {
    const plain = value === undefined ? undefined : plainDecimal(String(value))
    if (plain === undefined) return undefined
    if (plain.replace(/[-.]/gu, "").length <= most) return [plain]
    lose(0, `the element has at most ${most} digits`)
    return undefined
  }
})

/** `0012.50` → `12.50`, `.5` → `0.5`; `undefined` if it is not a decimal number. */
const plainDecimal = (value: string): string | undefined => {
  const [, sign, whole = "", , fraction] = /^\s*([+-]?)(\d*)(\.(\d*))?\s*$/u.exec(value) ?? []
  if (sign === undefined || (whole === "" && (fraction ?? "") === "")) return undefined
  return `${sign === "-" ? "-" : ""}${whole.replace(/^0+(?=\d)/u, "") || "0"}${fraction === undefined || fraction === "" ? "" : `.${fraction}`}`
}

/** X12 type N2: digits without a point, of which the last two are decimals. Exact. */
export const hundredths: Codec = {
  note: "exact: the last two digits are decimals",
  read: ([value = ""]) => {
    const [, sign, digits = ""] = /^\s*(-?)(\d{1,15})\s*$/u.exec(value) ?? []
    if (sign === undefined) return { wrong: 0, code: elementFaults.character, detail: `${JSON.stringify(value.slice(0, 40))} is not an amount: it has digits only, of which the last two are decimals.` }
    const padded = digits.padStart(3, "0")
    return [`${sign}${padded.slice(0, -2).replace(/^0+(?=\d)/u, "")}.${padded.slice(-2)}`]
  },
  write: ([value], { lose }) => {
    const [, sign = "", whole = "", fraction = ""] = /^(-?)(\d*)(?:\.(\d*))?$/u.exec(typeof value === "string" ? value : "") ?? []
    if (value === undefined || (whole === "" && fraction === "")) return undefined
    if (/[1-9]/u.test(fraction.slice(2)) || whole.length > 13) {
      lose(0, "the element has two decimals and at most 15 digits")
      return undefined
    }
    const digits = `${whole}${fraction.slice(0, 2).padEnd(2, "0")}`.replace(/^0+(?=\d)/u, "")
    return [digits === "0" ? "0" : `${sign}${digits}`]
  }
}

/** CCYYMMDD as 2026-11-20; `undefined` if it is not a date of the calendar. */
export const calendarDate = (value: string): string | undefined => {
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/u.exec(value) ?? []
  const text = `${year}-${month}-${day}`
  return year === undefined || parseInstant(`${text}T00:00:00Z`) === undefined ? undefined : text
}

/** X12 type TM: HHMM, HHMMSS, HHMMSSD or HHMMSSDD. Groups: hour, minute, second and hundredths. */
export const clockTime = /^([01]\d|2[0-3])([0-5]\d)(?:([0-5]\d)(\d{1,2})?)?$/u

/** X12 type R without a sign: `12`, `12.`, `12.5` or `.5`. */
export const unsignedNumber = /^(?:\d+(?:\.\d*)?|\.\d+)$/u

/** CCYYMMDD and 2026-11-20. */
export const date: Codec = {
  note: "CCYYMMDD",
  read: ([value = ""]) => {
    const text = calendarDate(value)
    return text === undefined ? { wrong: 0, code: elementFaults.date, detail: `${JSON.stringify(value.slice(0, 20))} is not a date as CCYYMMDD.` } : [text]
  },
  write: ([value]) => typeof value === "string" ? [value.replaceAll("-", "")] : undefined
}

/** A JSON number. */
export const number = (most: number): Codec => ({
  note: "a number",
  read: (texts, context) => {
    const read = decimal(most).read(texts, context)
    return isWrong(read) || read[0] === undefined ? read : [Number(read[0])]
  },
  write: ([value], context) => typeof value === "number" ? decimal(most).write([plainNumber(value)], context) : undefined
})

/** Without an exponent, which X12 has not. */
const plainNumber = (value: number): string => /e/iu.test(String(value)) ? value.toFixed(10).replace(/\.?0+$/u, "") : String(value)
