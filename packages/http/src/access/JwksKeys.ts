/** The keys of an identity provider, by its JWKS. Known keys stay valid for some time while the provider does not answer. */
import { createRemoteJWKSet, errors, type JWTVerifyGetKey } from "jose"

/** After this time keys are fetched again. */
const freshMillis = 600_000

/** How long keys are used after the last fetch, while the provider does not answer. Tokens are seldom valid for longer, and a key that the provider withdraws meanwhile is not noticed. */
const keptMillis = 3_600_000

/** Pause between fetches of a provider that does not answer, or for unknown keys. */
const pauseMillis = 5_000

interface Outage {
  readonly error: unknown
  retryAt: number
}

/** The keys cannot be fetched, and none that is known can decide. */
export class KeysUnavailable extends Error {}

/** The beginning of an outage, with the end of the known keys; or its end. */
export type JwksEvent = { readonly error: unknown; readonly knownUntil: Date } | "fetched again"

/** Times are monotonic: jose takes the time of day, and when that is set back, it would fetch nothing until the clock is where it was. */
export class JwksKeys {
  private readonly remote: ReturnType<typeof createRemoteJWKSet>
  private fetchedAt = -Infinity
  private outage: Outage | undefined
  private event: JwksEvent | undefined

  constructor(url: string) {
    // jose fetches by itself only while it has no keys
    this.remote = createRemoteJWKSet(new URL(url), { timeoutDuration: 5_000, cooldownDuration: Infinity, cacheMaxAge: Infinity })
  }

  /** The key of a token. Fails with `KeysUnavailable`, or with the reason why the token names no key that can be used. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    if (this.outage !== undefined && this.age() < keptMillis) return await this.findKnown(this.outage, header, token)
    if (this.age() >= freshMillis) {
      try {
        await this.fetch()
      } catch (error) {
        return await this.findKnown(this.failed(error), header, token)
      }
    }
    try {
      return await this.remote(header, token)
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey && this.age() >= pauseMillis) return await this.findAdded(header, token)
      throw error
    }
  }

  /** What has happened since the last call, for the log. */
  takeEvent(): JwksEvent | undefined {
    const { event } = this
    this.event = undefined
    return event
  }

  /** Milliseconds since the last fetch. */
  private age(): number {
    return performance.now() - this.fetchedAt
  }

  private async fetch(): Promise<void> {
    await this.remote.reload()
    this.fetchedAt = performance.now()
    if (this.outage === undefined) return
    this.outage = undefined
    this.event = "fetched again"
  }

  private async findAdded(...[header, token]: Parameters<JWTVerifyGetKey>) {
    try {
      await this.fetch()
    } catch (error) {
      throw unavailable(this.failed(error).error)
    }
    return await this.remote(header, token)
  }

  private findKnown(outage: Outage, ...[header, token]: Parameters<JWTVerifyGetKey>) {
    if (performance.now() >= outage.retryAt) this.fetchAgain(outage)
    // the provider may have a new key
    return this.remote(header, token).catch((error: unknown) => Promise.reject(error instanceof errors.JWKSNoMatchingKey ? unavailable(outage.error) : error))
  }

  /** Calls do not wait for a provider that may take seconds to fail. */
  private fetchAgain(outage: Outage): void {
    outage.retryAt = Infinity
    this.fetch().catch(() => {
      outage.retryAt = performance.now() + pauseMillis
    })
  }

  /** Throws if no key is known, or the known ones are too old. */
  private failed(error: unknown): Outage {
    const left = keptMillis - this.age()
    if (!(left > 0)) throw unavailable(error)
    if (this.outage === undefined) {
      this.outage = { error, retryAt: performance.now() + pauseMillis }
      this.event = { error, knownUntil: new Date(Date.now() + left) }
    }
    return this.outage
  }
}

const unavailable = (cause: unknown) => new KeysUnavailable("The keys cannot be fetched.", { cause })
