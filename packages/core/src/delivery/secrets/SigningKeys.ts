/** Opens sealed secrets for signing, with a cache: the same sealed bytes always have the same key. */
import { Effect, Metric } from "effect"
import { Base64 } from "effect/encoding"
import { unreadableSecretsTotal } from "../DeliveryMetrics.ts"
import type { LoadedDestination } from "../DeliveryStore.ts"
import type { Sealer } from "./Sealer.ts"
import type { SealedVersion } from "./SecretStore.ts"
import { placeOfSecret } from "./SigningSecrets.ts"

const maxRemembered = 10_000

/** Makes the function that returns the signing keys of a destination. */
export const makeSigningKeys = (sealer: Sealer["Service"]) => {
  const opened = new Map<string, Uint8Array>()
  /** A faster cache by loaded version: most deliveries use the same ones. */
  const openedVersions = new WeakMap<SealedVersion, Uint8Array>()
  const reported = new Set<string>()

  const open = (place: string, sealed: Uint8Array) =>
    Effect.suspend(() => {
      const name = `${place}\n${Base64.encode(sealed)}`
      const known = opened.get(name)
      if (known !== undefined) return Effect.succeed(known)
      return Effect.tap(sealer.open(place, sealed), (key) =>
        Effect.sync(() => {
          if (opened.size >= maxRemembered) opened.clear()
          opened.set(name, key)
        }))
    })

  /** Logs one line for each secret, because an unreadable secret is tried again every minute. */
  const report = (place: string) =>
    Effect.suspend(() => {
      const counted = Metric.update(unreadableSecretsTotal, 1)
      if (reported.has(place)) return counted
      if (reported.size >= maxRemembered) reported.clear()
      reported.add(place)
      return Effect.andThen(counted, Effect.logError(`Signing secret ${place} cannot be opened: it was sealed with a key that this process does not have. Its deliveries wait, without an attempt. Start this process with the key that sealed it (WAYBILL_SEALING_KEY, or the option sealingKeys).`))
    })

  /** The keys that sign for a destination at `now`, newest first; `undefined` if one cannot be opened. */
  return (tenantId: string, destination: LoadedDestination, now: number): Effect.Effect<ReadonlyArray<Uint8Array> | undefined> => {
    const live = destination.secrets.filter((version) => version.signsUntil === undefined || version.signsUntil > now)
    const known = live.map((version) => openedVersions.get(version)).filter((key) => key !== undefined)
    if (known.length === live.length) return Effect.succeed(known)
    return Effect.forEach(live, (version) =>
      Effect.tap(open(placeOfSecret(tenantId, destination.hmacSecretId), version.sealed), (key) =>
        Effect.sync(() => openedVersions.set(version, key)))).pipe(
      Effect.catchTag("SecretUnreadable", ({ hmacSecretId }) => Effect.as(report(hmacSecretId), undefined))
    )
  }
}
