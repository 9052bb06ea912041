/** What a client may see, kept for when it is not there to ask. */
import { Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { AccessStore } from "./AccessStore.ts"
import { accessOf, type Principal } from "./model/Principal.ts"

/** Tokens bring their own accounts; publishing must know them when the caller is not there. What keys may see is kept with the keys. */
export const rememberAccess = (access: AccessStore["Service"], principal: Principal): Effect.Effect<void, StorageError> =>
  principal.origin === "key" ? Effect.void : access.putClientAccess(principal.tenantId, {
    client: principal.client,
    origin: "token",
    ...accessOf([principal])
  })
