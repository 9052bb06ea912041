/** The access that API keys with one name give their client, and its end. */
import type { ClientAccess } from "./AccessStore.ts"
import type { StoredApiKey } from "./model/ApiKey.ts"
import { keyClient } from "./model/Client.ts"
import { accessOf } from "./model/Principal.ts"

/** Union of keys that are neither revoked nor expired; needs at least one. It is computed again when the first of them expires. */
export const accessOfKeys = (name: string, keys: ReadonlyArray<StoredApiKey>): ClientAccess => {
  const expiries = keys.map(({ expiresAt }) => expiresAt ?? Infinity)
  const [first, last] = [Math.min(...expiries), Math.max(...expiries)]
  return {
    client: keyClient(name),
    origin: "key",
    ...accessOf(keys),
    roles: [...new Set(keys.flatMap((key) => key.roles))].sort(),
    ...(last === Infinity ? {} : { live: { until: last } }),
    ...(first === Infinity ? {} : { reviewAt: first })
  }
}
