/** Sample freight charges of a carrier's system. */
import { type BillChange, type ChargeSubscriptionSettings, type ReadChange, readChange } from "@waybill/core/freight-charges"
import { billChange, type BillChangeOverrides, freightCharge } from "@waybill/testkit"
import { Effect } from "effect"

export type Json = Readonly<Record<string, unknown>>

export interface ChargeOverrides {
  readonly uniqueID?: string
  readonly account?: string
  readonly version?: number
  readonly total?: number
  readonly terms?: string
  readonly originName?: string
  readonly log?: ReadonlyArray<Json>
  readonly messages?: ReadonlyArray<Json>
  readonly more?: Json
}

const sampleId = "1234567890EXLA20241120"

const overridesOf = ({ log, messages, originName, terms, uniqueID: _, ...rest }: ChargeOverrides) => ({
  ...rest,
  ...(log === undefined ? {} : { changeLog: log }),
  ...(messages === undefined ? {} : { changeLogMessages: messages }),
  more: {
    ...(terms === undefined ? {} : { payment: { terms } }),
    ...(originName === undefined ? {} : { origin: { ...freightCharge(sampleId).origin, name: originName } }),
    ...rest.more
  }
}) as BillChangeOverrides

/** A valid PFC object. */
export const charge = (overrides: ChargeOverrides = {}) => freightCharge(overrides.uniqueID ?? sampleId, overridesOf(overrides))

/** A PFC object as an item of an intake call. */
export const change = (what: BillChange, overrides: ChargeOverrides & { readonly accounts?: ReadonlyArray<string> } = {}) =>
  billChange(what, overrides.uniqueID ?? sampleId, overridesOf(overrides))

/** A PFC object as a parsed change. */
export const read = (...args: Parameters<typeof change>): Effect.Effect<ReadChange> =>
  Effect.orDie(readChange(JSON.parse(JSON.stringify(change(...args))), ["charges", 0]))

export const settings = (overrides: Partial<ChargeSubscriptionSettings> = {}): ChargeSubscriptionSettings => ({
  webhookUrl: "https://debtor.example/pfc",
  accounts: ["A"],
  dataOptions: { shipmentDataType: "all_monitored_events", eventType: "all_impacts" },
  frequency: "real_time",
  includeEventLog: true,
  billScope: "subscribed_accounts",
  ...overrides
})
