/** Port: authenticates a request by its headers. A host with its own login replaces it. */
import { Context, type Effect } from "effect"
import type { StorageError } from "../shared/StoragePort.ts"
import type { AuthenticationUnavailable, TenantSuspended, Unauthenticated } from "./AccessErrors.ts"
import type { Principal } from "./model/Principal.ts"

/** What an authenticator sees of a request: no body. */
export interface PresentedRequest {
  readonly method: string
  /** Path and query as received. */
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** Port: who is calling. `@waybill/http` reads API keys and JWTs; a host may provide its own. */
export class Authenticator extends Context.Service<Authenticator, {
  readonly authenticate: (
    request: PresentedRequest
  ) => Effect.Effect<Principal, Unauthenticated | TenantSuspended | AuthenticationUnavailable | StorageError>
}>()("@waybill/core/access/Authenticator") {}
