/** The service as promises and handlers, over layers of the caller's own. */
import { checkOptions, decodeInput, deliverOnce, fault, InvalidInput, maintainOnce, type OptionKinds, optionKinds, type StorageAdapter, TenantId } from "@waybill/core"
import { Wakeups } from "@waybill/core/delivery"
import { Effect, Schema } from "effect"
import { httpOptionKinds } from "./facade/Apps.ts"
import { withAudit } from "./facade/AuditedMethods.ts"
import { withBounds } from "./facade/Bounds.ts"
import { methodsOf, methodsWithin } from "./facade/Methods.ts"
import { operatorMethodsOf } from "./facade/OperatorCalls.ts"
import { portalMethodsOf } from "./facade/PortalMethods.ts"
import { plain } from "./facade/Plain.ts"
import type { Run } from "./facade/Run.ts"
import { Service, type ServiceOptions } from "./facade/Service.ts"
import type { Waybill } from "./facade/Waybill.ts"

/** The layers of a service, and how its methods join a transaction of the host. */
export interface WaybillOverOptions<Tx = never> extends ServiceOptions {
  /** Makes an effect join a transaction of the host, for `within`: `joined` of the storage adapter in `layer`. Without it, `within` throws. */
  readonly joined?: StorageAdapter<Tx>["joined"]
}

const kinds: OptionKinds<WaybillOverOptions> = {
  layer: optionKinds.object,
  joined: optionKinds.function,
  background: optionKinds.object,
  log: optionKinds.function,
  ...httpOptionKinds
}

/**
 * The object that `createWaybill` returns, over layers of your own: for a program with Effect whose other parts have no Effect, and
 * for tests. A pickup desk comes from `pickupDeskLayer`, below `Waybill.layer`.
 */
export const waybillOver = <Tx = never>(options: WaybillOverOptions<Tx>): Waybill<Tx> => {
  checkOptions("waybillOver", options, kinds)
  const service = new Service(options)
  const { joined = unjoinable } = options
  const run: Run = (effect) => service.run(effect)

  return withAudit((effect) => service.run(effect), withBounds(run, {
    ...methodsOf(run),
    ...operatorMethodsOf(run),
    portal: portalMethodsOf(run),
    handler: (request, options = {}) => service.answer("whole", request, options),
    customerHandler: (request, options = {}) => service.answer("customers", request, options),
    operatorHandler: (request, options = {}) => service.answer("operators", request, options),
    portalHandler: (request, customer, options = {}) => service.answer("portal", request, options, customer),
    within: (transaction) => withBounds(run, methodsWithin(run, joined(transaction))),
    wake: (tenantId) => service.run(isTenantId(tenantId) ? Effect.flatMap(Wakeups, (wakeups) => wakeups.wake(tenantId)) : Effect.fail(noTenant)),
    runOnce: (options = {}) => service.run(Effect.flatMap(decodeRunOnce(plain(options)), ({ forMillis = Infinity }) => deliverOnce(forMillis))),
    maintain: () => service.run(maintainOnce),
    start: () => service.start(),
    stop: () => service.stop()
  } satisfies Waybill<Tx>))
}

const isTenantId = Schema.is(TenantId)

const noTenant = InvalidInput.of(fault(["tenantId"], "wake needs the id of a tenant: waybill.wake(\"acme\"), after the commit of a transaction with its data.", "required"))

const unjoinable = (): never => {
  throw new TypeError("This service joins no transactions. Give waybillOver the option joined.")
}

const decodeRunOnce = decodeInput(Schema.Struct({ forMillis: Schema.optionalKey(Schema.Number.check(Schema.isGreaterThan(0))) }), { closed: true })
