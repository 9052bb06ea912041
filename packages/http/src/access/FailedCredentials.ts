/**
 * Rate limit for invalid credentials. Counts in this process by address, and by the claimed credential, so that
 * guessing one key from many addresses is limited too.
 *
 * Recently valid credentials are still checked, so a failing client does not lock out others behind the same proxy.
 */
import { keyAddress, type PresentedRequest, RateExceeded, RecentMap, sha256 } from "@waybill/core"
import { Effect, Redacted } from "effect"
import { presentedIn } from "./PresentedCredentials.ts"

/** Failures per minute, after which the rest of that minute is refused. */
export const failuresPerMinute = 60

const windowMillis = 60_000

/** Maximum entries of each map. The oldest is evicted, so that callers cannot make the maps grow. */
export const maxRemembered = 20_000

interface Window {
  /** In `monotonicMillis`, like each `now` here. */
  readonly until: number
  count: number
}

/** Failures by name, each counted for one minute from its first failure. */
class FailureCounts {
  private readonly windows = new RecentMap<Window>(maxRemembered)

  /** The current window of this name; `undefined` without failures. */
  windowOf(name: string, now: number): Window | undefined {
    const window = this.windows.get(name)
    return window !== undefined && now < window.until ? window : undefined
  }

  add(name: string, now: number): void {
    const running = this.windowOf(name, now)
    if (running !== undefined) {
      running.count += 1
      return
    }
    this.windows.put(name, { until: now + windowMillis, count: 1 })
  }

  get size(): number {
    return this.windows.size
  }
}

/** The credentials of a request, as they are counted. */
export interface CountedCredentials {
  /** As in `clientAddress`; `undefined` when unknown. */
  readonly address: string | undefined
  /** The claimed credential: tenant and id of an API key, or one name for all others. */
  readonly credential: () => string
  /** Identifies credentials that were valid. */
  readonly digest: string
}

export const countedCredentials = (address: string | undefined, headers: PresentedRequest["headers"]): Effect.Effect<CountedCredentials> =>
  Effect.map(sha256(`${headers["x-api-key"] ?? ""}\n${headers["authorization"] ?? ""}`), (hash) => ({
    address,
    credential: () => claimedBy(headers),
    digest: Buffer.from(hash).toString("base64")
  }))

const claimedBy = (headers: PresentedRequest["headers"]): string => {
  const { apiKey, bearer } = presentedIn(headers)
  for (const each of [apiKey, bearer]) {
    const claimed = each === undefined ? undefined : keyAddress(Redacted.value(each))
    if (claimed !== undefined) return `${claimed.tenantId} ${claimed.id}`
  }
  return "other"
}

export class FailedCredentials {
  private readonly byAddress = new FailureCounts()
  private readonly byCredential = new FailureCounts()
  /** Digests of recently valid credentials, newest last. */
  private readonly recentlyValid = new RecentMap<true>(maxRemembered)

  /** Fails if these credentials must not be checked now. */
  admit({ address, credential, digest }: CountedCredentials, now: number): Effect.Effect<void, RateExceeded> {
    if (this.recentlyValid.has(digest)) return Effect.void
    const ofAddress = address === undefined ? undefined : this.byAddress.windowOf(address, now)
    if (ofAddress === undefined) return Effect.void
    if (ofAddress.count >= failuresPerMinute) return exceeded(ofAddress.until - now)
    // An address without failures may have the valid key that others are guessing.
    const ofCredential = this.byCredential.windowOf(credential(), now)
    return ofCredential !== undefined && ofCredential.count >= failuresPerMinute ? exceeded(ofCredential.until - now) : Effect.void
  }

  failed({ address, credential, digest }: CountedCredentials, now: number): void {
    this.recentlyValid.delete(digest)
    if (address !== undefined) this.byAddress.add(address, now)
    this.byCredential.add(credential(), now)
  }

  succeeded({ digest }: CountedCredentials): void {
    this.recentlyValid.put(digest, true)
  }

  /** Number of entries in memory. */
  get size(): number {
    return this.byAddress.size + this.byCredential.size + this.recentlyValid.size
  }
}

const exceeded = (millis: number) =>
  Effect.fail(new RateExceeded({ quota: "failedCredentials", limit: failuresPerMinute, retryAfterSeconds: Math.max(1, Math.ceil(millis / 1000)) }))
