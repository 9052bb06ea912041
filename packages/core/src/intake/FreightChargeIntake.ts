/** Where the carrier's own system hands in freight charges. */
import { Context, Effect, Layer } from "effect"
import { NotPermitted } from "../access/AccessErrors.ts"
import { isCarrier, type Principal } from "../access/model/Principal.ts"
import { FreightCharges } from "../freight-charges/FreightCharges.ts"
import { readChange } from "../freight-charges/ReadChange.ts"
import type { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { inOrder, intakeItems, type IntakeOptions, type IntakeResults, readItems, refusedCall } from "./IntakeItems.ts"

/** A bill's name and the version a change made of it, or had made before. */
export interface FreightChargeKey {
  readonly uniqueID: string
  readonly version: number
}

export class FreightChargeIntake extends Context.Service<FreightChargeIntake, {
  /**
   * Takes `{charges: […]}`, `{charges: {…}}`, a bare list or one bare change: `{change, accounts?, pfc}`. One bad item refuses the whole
   * call, unless `partial`.
   */
  readonly report: (
    principal: Principal,
    body: unknown,
    options?: IntakeOptions
  ) => Effect.Effect<IntakeResults<FreightChargeKey>, InvalidInput | NotPermitted | StorageError>
}>()("@waybill/core/intake/FreightChargeIntake") {
  static readonly layer = Layer.effect(
    FreightChargeIntake,
    Effect.gen(function*() {
      const charges = yield* FreightCharges

      const report = Effect.fn("FreightChargeIntake.report")(function*(principal: Principal, body: unknown, options: IntakeOptions = {}) {
        if (!isCarrier(principal)) return yield* new NotPermitted({ needed: "carrier" })
        const items = yield* intakeItems(body, "charges", (one) => "change" in one || "pfc" in one)
        const { good, refused } = yield* readItems(items, "charges", (item, at) => readChange(item as Readonly<Record<string, unknown>>, at))
        if (refused.length > 0 && options.partial !== true) return yield* refusedCall(refused)
        const outcomes = yield* charges.report(principal.tenantId, good.map(({ index, value }) => ({ index, change: value })), options)
        return { results: inOrder<FreightChargeKey>([...refused, ...outcomes]) }
      })

      return FreightChargeIntake.of({ report })
    })
  )
}
