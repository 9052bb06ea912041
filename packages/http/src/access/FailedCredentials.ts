/**
 * How many wrong credentials an address may present. Counted in this process: by the address they come from, and by the
 * credential that they claim to be, so that many addresses guessing at one key are slowed down as well.
 *
 * Credentials that held lately are still checked, so a failing neighbour behind the same proxy does not lock anybody out.
 */
import { keyAddress, type PresentedRequest, RateExceeded, RecentMap, sha256 } from "@waybill/core"
import { Effect, Redacted } from "effect"
import { presentedIn } from "./PresentedCredentials.ts"

/** Failures in one minute, after which the rest of that minute is refused. */
export const failuresPerMinute = 60

const windowMillis = 60_000

/** Entries of each map. Beyond that the oldest one is forgotten, so nobody makes them grow. */
export const mostRemembered = 20_000

interface Window {
  readonly until: number
  count: number
}

/** Counts of one minute each, in the order in which their minutes began. */
class Windows {
  private readonly windows = new RecentMap<Window>(mostRemembered)

  /** Failures within the minute that runs for this name. */
  countOf(name: string, now: number): Window | undefined {
    const window = this.windows.get(name)
    return window !== undefined && now < window.until ? window : undefined
  }

  add(name: string, now: number): void {
    const running = this.countOf(name, now)
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

/** What a request presents, as it is counted. */
export interface Presented {
  /** As in `clientAddress`; `undefined` where nothing is known of it. */
  readonly address: string | undefined
  /** Which credential it claims to be: the tenant and id of an API key, or one name for everything else. */
  readonly credential: () => string
  /** What the credentials are remembered by once they held. */
  readonly digest: string
}

export const presentedAs = (address: string | undefined, headers: PresentedRequest["headers"]): Effect.Effect<Presented> =>
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
  private readonly byAddress = new Windows()
  private readonly byCredential = new Windows()
  /** Credentials that held, the latest last. */
  private readonly good = new RecentMap<true>(mostRemembered)

  /** Fails while these credentials are not to be checked. */
  admit({ address, credential, digest }: Presented, now: number): Effect.Effect<void, RateExceeded> {
    if (this.good.has(digest)) return Effect.void
    const ofAddress = address === undefined ? undefined : this.byAddress.countOf(address, now)
    if (ofAddress === undefined) return Effect.void
    if (ofAddress.count >= failuresPerMinute) return exceeded(ofAddress.until - now)
    // an address that has not failed may hold the right key that others guess at
    const ofCredential = this.byCredential.countOf(credential(), now)
    return ofCredential !== undefined && ofCredential.count >= failuresPerMinute ? exceeded(ofCredential.until - now) : Effect.void
  }

  failed({ address, credential, digest }: Presented, now: number): void {
    this.good.delete(digest)
    if (address !== undefined) this.byAddress.add(address, now)
    this.byCredential.add(credential(), now)
  }

  held({ digest }: Presented): void {
    this.good.put(digest, true)
  }

  /** Entries in memory. */
  get size(): number {
    return this.byAddress.size + this.byCredential.size + this.good.size
  }
}

const exceeded = (millis: number) =>
  Effect.fail(new RateExceeded({ quota: "failedCredentials", limit: failuresPerMinute, retryAfterSeconds: Math.max(1, Math.ceil(millis / 1000)) }))
