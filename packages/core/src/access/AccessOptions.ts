/** How long access lasts when it is not revoked. */
import { Context } from "effect"

/** How long a client without access keeps its subscriptions before they are closed. */
export const heldMillis = 30 * 86_400_000

export const defaultTokenAccessMillis = 604_800_000

export class AccessOptions extends Context.Reference<{
  /**
   * How long a token client is served after its last token was seen. `undefined`: seven days for JWTs, and without end for the
   * principals of a host, which has its own way to end them.
   */
  readonly tokenAccessMillis: number | undefined
}>("@waybill/core/access/AccessOptions", { defaultValue: () => ({ tokenAccessMillis: undefined }) }) {}
