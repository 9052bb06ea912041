/** Parses one reported change of a freight bill. */
import { Effect } from "effect"
import { Base64Url } from "effect/encoding"
import { sha256 } from "../access/Sha256.ts"
import { fault } from "../shared/Fault.ts"
import { decodeInput, InvalidInput } from "../shared/InvalidInput.ts"
import { canonicalText, isObject } from "../shared/Json.ts"
import { type LogItem, spelled } from "./model/ChargeLog.ts"
import type { ReadChange } from "./model/FreightBill.ts"
import { billIdOf, BillChangeReport, BillRemovalReport, type ChargeJson, maxChargeBytes, versionOf } from "./model/PreliminaryFreightCharge.ts"

const decodeChange = decodeInput(BillChangeReport)
const decodeRemoval = decodeInput(BillRemovalReport)
const encoder = new TextEncoder()

/** `item` is JSON; `at` is its path in the call. */
export const readChange = (item: Readonly<Record<string, unknown>>, at: ReadonlyArray<PropertyKey>): Effect.Effect<ReadChange, InvalidInput> =>
  item["change"] === "removed" ? readRemoval(item, at) : readVersion(item, at)

const readVersion = Effect.fnUntraced(function*(
  item: Readonly<Record<string, unknown>>,
  at: ReadonlyArray<PropertyKey>
): Effect.fn.Return<ReadChange, InvalidInput> {
  // null means a missing member, because the interface has no null
  const json = withoutNulls(item) as Readonly<Record<string, unknown>>
  const report = yield* decodeChange(json, at)
  const bytes = encoder.encode(JSON.stringify(json["pfc"])).length
  if (bytes > maxChargeBytes) {
    return yield* InvalidInput.of(fault([...at, "pfc"], `A PFC object has at most ${maxChargeBytes} bytes of JSON.`, "out_of_bounds"))
  }
  const { charge, log, messages } = partsOf(json["pfc"] as ChargeJson)
  const { header, uniqueID } = report.pfc.pfc
  const accounts = [...new Set(report.accounts ?? [report.pfc.billTo.account])].sort()
  const content = canonicalText({ accounts, charge, log, messages })
  return {
    billId: billIdOf(uniqueID),
    change: report.change,
    given: header?.function === undefined ? undefined : versionOf(header.function),
    accounts,
    charge,
    log: log.map(spelled),
    messages,
    fingerprint: Base64Url.encode((yield* sha256(content)).subarray(0, 18))
  }
})

/** Other members of a removal are ignored: the old debtor gets only what it already knew. */
const readRemoval = Effect.fnUntraced(function*(
  item: Readonly<Record<string, unknown>>,
  at: ReadonlyArray<PropertyKey>
): Effect.fn.Return<ReadChange, InvalidInput> {
  const { pfc: { pfc: { header, uniqueID } } } = yield* decodeRemoval(withoutNulls(item), at)
  return {
    billId: billIdOf(uniqueID),
    change: "removed",
    given: header?.function === undefined ? undefined : versionOf(header.function),
    accounts: [],
    charge: undefined,
    log: [],
    messages: [],
    fingerprint: "removed"
  }
})

/** Version and log are counted and stored apart from the rest. */
const partsOf = (json: ChargeJson): { readonly charge: ChargeJson; readonly log: ReadonlyArray<LogItem>; readonly messages: ReadonlyArray<LogItem> } => {
  const { changeLog, changeLogMessages, ...charges } = json["charges"] as Readonly<Record<string, unknown>>
  const { header, ...pfc } = json["pfc"] as Readonly<Record<string, unknown>>
  const { function: _version, ...headerRest } = isObject(header) ? header : {}
  return {
    charge: { ...json, pfc: Object.keys(headerRest).length === 0 ? pfc : { ...pfc, header: headerRest }, charges },
    log: (changeLog ?? []) as ReadonlyArray<LogItem>,
    messages: (changeLogMessages ?? []) as ReadonlyArray<LogItem>
  }
}

const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== null).map(([name, inner]) => [name, withoutNulls(inner)]))
}
