/** A tenant, its debtors and their received notifications, for tests of freight charges with a test clock. */
import { FreightChargeIntake, type Principal } from "@waybill/core"
import { DeliveryWorker } from "@waybill/core/delivery"
import { ChargeSubscriptions, ChargeWindows } from "@waybill/core/freight-charges"
import { ScriptedReceivers, TestWaybill } from "@waybill/testkit"
import { Effect, Stream } from "effect"
import type { Json } from "./Charges.ts"
import { untyped } from "../untyped.ts"

export const hook = "https://debtor.example/pfc"

export const wanted = {
  webhookUrl: hook,
  accounts: ["A"],
  dataOptions: { shipmentDataType: "all_monitored_events", eventType: "all_impacts" }
}

/** The members of a received PFC object that tests use. */
interface ReceivedCharge {
  readonly pfc: { readonly uniqueID: string; readonly function: string; readonly header: { readonly function: string }; readonly date: string; readonly isTest: boolean }
  readonly charges: {
    readonly preliminaryTotalCharges: number
    readonly changeLog?: ReadonlyArray<Json>
    readonly changeLogMessages?: ReadonlyArray<Json>
  } & Json
  readonly [group: string]: unknown
}

/** The bills in flight, as the JSON array that a client gets. */
export const listedInFlight = (subscriptions: ChargeSubscriptions["Service"], principal: Principal, id: string) =>
  Effect.map(Effect.flatMap(subscriptions.inFlight(principal, id), Stream.runCollect), (bills) => Buffer.from(`[${bills.map((bill) => Buffer.from(bill).toString()).join()}]`))

export const makeDebtors = Effect.gen(function*() {
  const tenant = yield* TestWaybill.tenant()
  const intake = yield* FreightChargeIntake
  const subscriptions = yield* ChargeSubscriptions
  const windows = yield* ChargeWindows
  const worker = yield* DeliveryWorker
  const receivers = yield* ScriptedReceivers
  const decoder = new TextDecoder()
  const debtor = tenant.customer("debtor", ["A"])

  const report = (...changes: ReadonlyArray<unknown>) => intake.report(tenant.carrier, untyped({ charges: changes }))

  const subscribe = (principal: Principal, more: Readonly<Record<string, unknown>> = {}) =>
    subscriptions.create(principal, untyped({ ...wanted, ...more }))

  const bodiesOf = (body: Uint8Array): ReadonlyArray<ReceivedCharge> => JSON.parse(decoder.decode(body))

  /** One array per request, after all due deliveries were sent. */
  const received = (url = hook) =>
    Effect.gen(function*() {
      yield* windows.closeDue
      yield* worker.drain
      return (yield* receivers.requests(url)).map((request) => bodiesOf(request.body))
    })

  const inFlight = (principal: Principal, id: string) => Effect.map(listedInFlight(subscriptions, principal, id), bodiesOf)

  return { tenant, intake, subscriptions, windows, worker, receivers, debtor, report, subscribe, received, inFlight }
})

export const named = ({ pfc }: ReceivedCharge): string => `${pfc.uniqueID} ${pfc.header.function}`

export const codes = ({ charges }: ReceivedCharge): ReadonlyArray<string> => (charges.changeLog ?? []).map((each) => String(each["carrierCode"] ?? each["eventCode"]))
