/** Parses one reported change of a freight bill. */
import { Effect, Schema, Struct } from "effect"
import { Base64Url } from "effect/encoding"
import { sha256 } from "../access/Sha256.ts"
import { fault } from "../shared/Fault.ts"
import { decodeInput, InvalidInput } from "../shared/InvalidInput.ts"
import { canonicalText, isObject, membersOf } from "../shared/Json.ts"
import type { LogItem } from "./model/ChargeLog.ts"
import type { ReadChange } from "./model/FreightBill.ts"
import { billIdOf, BillChangeReport, BillRemovalReport, type ChargeJson, maxChargeBytes, versionOf } from "./model/PreliminaryFreightCharge.ts"

const decodeChange = decodeInput(BillChangeReport)
const decodeRemoval = decodeInput(BillRemovalReport)
/** A misspelt `accounts` would show the bill to the account of `billTo`. SPEC-GAP-X7 */
const checkMembers = decodeInput(Schema.Struct({ change: Schema.Unknown, accounts: Schema.Unknown, pfc: Schema.Unknown }).mapFields(Struct.map(Schema.optionalKey)), { closed: true })
const encoder = new TextEncoder()

/** `item` is JSON; `at` is its path in the call. */
export const readChange = (item: Readonly<Record<string, unknown>>, at: ReadonlyArray<PropertyKey>): Effect.Effect<ReadChange, InvalidInput> =>
  Effect.tap(item["change"] === "removed" ? readRemoval(item, at) : readVersion(item, at), () => checkMembers(item, at))

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
  const billId = billIdOf(report.pfc.pfc.uniqueID)
  const { charge, log, messages } = partsOf(json["pfc"] as ChargeJson, billId)
  const given = yield* versionGiven(report.pfc.pfc, at)
  const accounts = [...new Set(report.accounts ?? [report.pfc.billTo.account])].sort()
  const content = canonicalText({ accounts, charge, log, messages })
  return {
    billId,
    change: report.change,
    given,
    accounts,
    charge,
    log,
    messages,
    fingerprint: Base64Url.encode((yield* sha256(content)).subarray(0, 18))
  }
})

/** A removal may give its reason in the log and in messages. Its other members are ignored: the old debtor gets only what it already knew. */
const readRemoval = Effect.fnUntraced(function*(
  item: Readonly<Record<string, unknown>>,
  at: ReadonlyArray<PropertyKey>
): Effect.fn.Return<ReadChange, InvalidInput> {
  const json = withoutNulls(item) as { readonly pfc?: { readonly charges?: LogParts } }
  const { pfc: { pfc } } = yield* decodeRemoval(json, at)
  // unlike the decoded ones, these have their unknown members
  const { changeLog = [], changeLogMessages = [] } = json.pfc?.charges ?? {}
  return {
    billId: billIdOf(pfc.uniqueID),
    change: "removed",
    given: yield* versionGiven(pfc, at),
    accounts: [],
    charge: undefined,
    log: changeLog,
    messages: changeLogMessages,
    fingerprint: "removed"
  }
})

interface LogParts {
  readonly changeLog?: ReadonlyArray<LogItem>
  readonly changeLogMessages?: ReadonlyArray<LogItem>
}

/** The published schema requires `function` beside the header in which it describes it, so senders write either or both. SPEC-GAP-E20 */
const versionGiven = (
  pfc: { readonly function?: string | undefined; readonly header?: { readonly function?: string | undefined } | undefined },
  at: ReadonlyArray<PropertyKey>
): Effect.Effect<number | undefined, InvalidInput> => {
  const names = [pfc.header?.function, pfc.function].filter((name) => name !== undefined)
  return names.length === 2 && names[0] !== names[1]
    ? Effect.fail(InvalidInput.of(fault([...at, "pfc", "pfc", "function"], "function differs from header.function. Send one of them, or the same in both.", "conflict")))
    : Effect.succeed(names[0] === undefined ? undefined : versionOf(names[0]))
}

/** Version and log are counted and stored apart from the rest. The id is written as it is compared. SPEC-GAP-E4 */
const partsOf = (json: ChargeJson, billId: string): { readonly charge: ChargeJson; readonly log: ReadonlyArray<LogItem>; readonly messages: ReadonlyArray<LogItem> } => {
  const { changeLog, changeLogMessages, ...charges } = json["charges"] as Readonly<Record<string, unknown>>
  const { function: _, header, ...rest } = json["pfc"] as Readonly<Record<string, unknown>>
  const pfc = { ...rest, uniqueID: billId }
  const { function: __, ...headerRest } = membersOf(header)
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
