/** Duration of access that is not revoked. */
import { Context } from "effect"

/** Time after which the subscriptions of a client without access are closed: 30 days, in milliseconds. */
export const heldMillis = 30 * 86_400_000

/** Seven days, in milliseconds. */
export const defaultTokenAccessMillis = 604_800_000

/** How long clients with tokens keep their access. */
export class AccessOptions extends Context.Reference<{
  /**
   * How long a token client keeps access after its last token was seen. `undefined`: seven days for JWTs; no end for principals of an
   * embedding host, which ends access itself.
   */
  readonly tokenAccessMillis: number | undefined
}>("@waybill/core/access/AccessOptions", { defaultValue: () => ({ tokenAccessMillis: undefined }) }) {}
