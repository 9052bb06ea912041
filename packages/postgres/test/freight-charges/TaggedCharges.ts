/** Freight charges whose every field has the number of its report as a tag, so that content of another report is detected. */
import { freightCharge } from "@waybill/testkit"

export type Json = Readonly<Record<string, unknown>>

const dates = new Set(["date", "pickupDate"])

/** Report 17 writes `name @17@`, the number 10017001, a date in the year 3017. */
const tagged = (id: number, value: unknown): unknown => {
  let numbers = 0
  const tag = (each: unknown, name: string): unknown => {
    if (typeof each === "string") return dates.has(name) ? `${3000 + id}-01-02T03:04:05.000` : `${each} @${id}@`
    if (typeof each === "number") return 10_000_000 + id * 1000 + numbers++
    if (Array.isArray(each)) return each.map((item) => tag(item, name))
    if (typeof each !== "object" || each === null) return each
    return Object.fromEntries(Object.entries(each).map(([key, inner]) => [key, tag(inner, key)]))
  }
  return tag(value, "")
}

const entry = (id: number) => ({ eventCategoryName: `category @${id}@`, eventCode: "RWE", carrierDescription: `description @${id}@` })

/** A PFC object of report `id` below 1000, without log. `debtor` is the account it bills to. */
export const taggedCharge = (id: number, uniqueID: string, debtor: string): Json & { readonly charges: Json } => {
  const { billTo, pfc, ...rest } = tagged(id, { ...freightCharge(uniqueID), unknown: { deep: ["member"] } }) as { billTo: Json; pfc: Json; charges: Json }
  return { ...rest, pfc: { ...pfc, uniqueID }, billTo: { ...billTo, account: debtor } }
}

/** The charge with a change log: its own entry and message. */
export const withLog = (id: number, charge: Json & { readonly charges: Json }): Json => ({
  ...charge,
  charges: { ...charge.charges, changeLog: [entry(id)], changeLogMessages: [{ informationalMessage: `message @${id}@` }] }
})

/** The numbers of all reports whose tags are in a text, and all accounts in it. */
export const tagsIn = (text: string): ReadonlySet<string> =>
  new Set([
    ...[...text.matchAll(/@(\d+)@/gu)].map((match) => match[1]!),
    ...[...text.matchAll(/(?<![\w.])1(\d{4})\d{3}(?![\w.])/gu)].map((match) => String(Number(match[1]))),
    ...[...text.matchAll(/"(3\d{3})-01-02T03:04:05/gu)].map((match) => String(Number(match[1]) - 3000)),
    ...[...text.matchAll(/acct-\d\d/gu)].map((match) => match[0])
  ])
