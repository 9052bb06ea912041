/** The carrier's system posts freight charges here. */
import { Context, Effect, Layer } from "effect"
import type { NotPermitted } from "../access/AccessErrors.ts"
import { carrierOf, type Principal } from "../access/model/Principal.ts"
import { FreightCharges } from "../freight-charges/FreightCharges.ts"
import type { BillChangeReport, BillRemovalReport } from "../freight-charges/model/PreliminaryFreightCharge.ts"
import { readChange } from "../freight-charges/ReadChange.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { type IntakeBody, type IntakeOptions, type IntakeResults, takeItems } from "./IntakeItems.ts"

/** A bill's id, and the version that the change created. A repeated change has the version of its first call. */
export interface FreightChargeKey {
  readonly uniqueID: string
  readonly version: number
}

/** Accepts versions of freight bills from a carrier's system. */
export class FreightChargeIntake extends Context.Service<FreightChargeIntake, {
  /**
   * Accepts `{charges: […]}`, `{charges: {…}}`, a list, or one change `{change, accounts?, pfc}`. One refused change refuses the whole call,
   * unless `partial` is set.
   */
  readonly report: (
    principal: Principal,
    body: IntakeBody<"charges", typeof BillChangeReport.Encoded | typeof BillRemovalReport.Encoded>,
    options?: IntakeOptions
  ) => Effect.Effect<IntakeResults<FreightChargeKey>, InvalidInput | NotPermitted | StorageError>
}>()("@waybill/core/intake/FreightChargeIntake") {
  static readonly layer = Layer.effect(FreightChargeIntake, Effect.gen(function*() {
    const charges = yield* FreightCharges

    return FreightChargeIntake.of({
      report: Effect.fn("FreightChargeIntake.report")((principal: Principal, body: unknown, options: IntakeOptions = {}) =>
        takeItems(principal, body, options, {
          member: "charges",
          looksLikeOne: (one) => "change" in one || "pfc" in one,
          read: (item, at) => readChange(item as Readonly<Record<string, unknown>>, at),
          take: (good, partial) => charges.report(principal.tenantId, good.map(({ index, value }) => ({ index, change: value })), { partial, writer: carrierOf(principal) })
        })
      )
    })
  }))
}
