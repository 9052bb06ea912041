/** The keys of an identity provider, by its JWKS. Known keys stay valid for some time while the provider does not answer. */
import { createLocalJWKSet, createRemoteJWKSet, errors, type JWKSCacheInput, jwksCache, type JWTVerifyGetKey } from "jose"

/** After this time keys are fetched again. */
const freshMillis = 600_000

/** How long keys are used after the last fetch, while the provider does not answer. Tokens are seldom valid for longer, and a key that the provider withdraws meanwhile is not noticed. */
const keptMillis = 3_600_000

/** Pause between fetches of a provider that does not answer, or for unknown keys. */
const pauseMillis = 5_000

interface Outage {
  readonly error: unknown
  readonly known: JWTVerifyGetKey
  readonly knownUntil: number
  retryAt: number
}

/** The beginning of an outage, with the end of the known keys; or its end. */
export type JwksEvent = { readonly error: unknown; readonly knownUntil: Date } | "fetched again"

export class JwksKeys {
  private readonly fetched: JWKSCacheInput = {}
  private readonly remote: ReturnType<typeof createRemoteJWKSet>
  private outage: Outage | undefined
  private event: JwksEvent | undefined

  constructor(url: string) {
    this.remote = createRemoteJWKSet(new URL(url), { timeoutDuration: 5_000, cooldownDuration: pauseMillis, cacheMaxAge: freshMillis, [jwksCache]: this.fetched })
  }

  /** The key of a token. Fails with one of jose's token errors, or with the reason why keys cannot be fetched. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    if (this.outage !== undefined && Date.now() < this.outage.knownUntil) return await this.findKnown(this.outage, header, token)
    try {
      const key = await this.remote(header, token)
      this.answered()
      return key
    } catch (error) {
      if (isTokenError(error)) {
        this.answered()
        throw error
      }
      const outage = this.failed(error)
      if (outage === undefined) throw error
      return await this.findKnown(outage, header, token)
    }
  }

  /** What has happened since the last call, for the log. */
  takeEvent(): JwksEvent | undefined {
    const { event } = this
    this.event = undefined
    return event
  }

  private findKnown(outage: Outage, ...[header, token]: Parameters<JWTVerifyGetKey>) {
    if (Date.now() >= outage.retryAt) this.fetchAgain(outage)
    // the provider may have a new key
    return Promise.resolve(outage.known(header, token)).catch((error: unknown) => Promise.reject(error instanceof errors.JWKSNoMatchingKey ? outage.error : error))
  }

  /** Calls do not wait for a provider that may take seconds to fail. */
  private fetchAgain(outage: Outage): void {
    outage.retryAt = Infinity
    this.remote.reload().then(() => this.answered(), () => {
      outage.retryAt = Date.now() + pauseMillis
    })
  }

  private answered(): void {
    if (this.outage === undefined) return
    this.outage = undefined
    this.event = "fetched again"
  }

  /** Undefined if no key is known, or the known ones are too old. */
  private failed(error: unknown): Outage | undefined {
    const { jwks, uat } = this.fetched
    const now = Date.now()
    if (jwks === undefined || uat === undefined || now >= uat + keptMillis) return undefined
    if (this.outage === undefined) {
      this.outage = { error, known: createLocalJWKSet(jwks), knownUntil: uat + keptMillis, retryAt: now + pauseMillis }
      this.event = { error, knownUntil: new Date(uat + keptMillis) }
    }
    return this.outage
  }
}

/** Whether the token is invalid. All other errors, such as failures to fetch keys, are on this side. */
export const isTokenError = (error: unknown): error is errors.JOSEError =>
  error instanceof errors.JOSEError && error.constructor !== errors.JOSEError &&
  !(error instanceof errors.JWKSTimeout) && !(error instanceof errors.JWKSInvalid)
