/** What the API keys of one name let their client see, and for how long. */
import type { ClientAccess } from "./AccessStore.ts"
import type { StoredApiKey } from "./model/ApiKey.ts"
import { keyClient } from "./model/Client.ts"
import { accessOf } from "./model/Principal.ts"

/** The union over keys that are neither revoked nor expired, at least one. It is computed again when the first of them expires. */
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
