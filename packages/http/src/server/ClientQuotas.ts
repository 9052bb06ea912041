/** Rate limits and concurrency limits per client, counted in this process. */
import { isCarrier, type Limits, monotonicMillis, type Principal, type Quota, RateExceeded, RecentMap, type StorageError, TenantLimits } from "@waybill/core"
import { Effect } from "effect"
import * as Semaphore from "effect/Semaphore"
import { clientKeyOf } from "../access/ClientKey.ts"
import { KeyedCounts } from "../shared/KeyedCounts.ts"
import type { TakeBytes } from "../shared/RequestBody.ts"

/** Maximum number of clients to remember. An evicted client, the least recently used, starts with a full bucket. */
const maxClients = 50_000

/** Burst size after an idle time, in seconds' worth of requests. */
const burstSeconds = 2

const longestWaitSeconds = 60

/** A fixed hint, because the duration of an upload or a large answer depends on its client. */
const retrySeconds = 5

/** Bytes of one client's request bodies in memory: eight of the largest. */
export const maxBodyBytesPerClient = 128 * 1024 ** 2

/** Bytes of all clients' request bodies in memory. What is parsed from them takes up to three times as much. */
export const maxBodyBytesPerProcess = 2 * maxBodyBytesPerClient

/** Bytes of a client's bodies that are never refused for what others hold: the largest body of every call but intake. */
export const ownBodyBytesPerClient = 2 * 1024 ** 2

/** Large answers of one client that are read at the same time. Others of it wait before they read anything. */
export const readsPerClient = 2

/** Calls of one client for large answers, those that wait included. Each holds its head and its fiber, some 20 KB. */
export const largeAnswersPerClient = 100

interface TokenBucket {
  tokens: number
  /** In `monotonicMillis`. */
  filledAt: number
}

/** Whose quotas a request uses. */
export interface QuotaClient {
  readonly principal: Principal
  readonly key: string
}

export const quotaClientOf = (principal: Principal): QuotaClient => ({ principal, key: clientKeyOf(principal) })

export interface ClientQuotas {
  /** Takes one request out of the client's rate. */
  readonly admit: (client: QuotaClient) => Effect.Effect<void, RateExceeded | StorageError>
  /** Runs an upload in one of the client's slots, and releases the slot after any outcome. */
  readonly withUploadSlot: <A, E, R>(client: QuotaClient, upload: Effect.Effect<A, E, R>) => Effect.Effect<A, E | RateExceeded | StorageError, R>
  /** Runs a read with a large answer when fewer than `readsPerClient` of the client are running, in the order of their arrival. */
  readonly withLargeAnswer: <A, E, R>(client: QuotaClient, read: Effect.Effect<A, E, R>) => Effect.Effect<A, E | RateExceeded, R>
  /** Runs a request whose body is kept in memory. The bytes that it takes are counted until it ends. */
  readonly withBodyBytes: <A, E, R>(client: QuotaClient, request: (take: TakeBytes) => Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

export const makeClientQuotas: Effect.Effect<ClientQuotas, never, TenantLimits> = Effect.gen(function*() {
  const limits = yield* TenantLimits
  const buckets = new RecentMap<TokenBucket>(maxClients)
  const uploads = new KeyedCounts()

  const reads = new Map<string, { readonly turns: Semaphore.Semaphore; requests: number }>()

  const bodyBytes = new KeyedCounts()

  const take = (key: string, quota: Quota, limit: number, now: number): Effect.Effect<void, RateExceeded> => {
    const bucket = buckets.get(key) ?? { tokens: limit * burstSeconds, filledAt: now }
    bucket.tokens = Math.min(limit * burstSeconds, bucket.tokens + (now - bucket.filledAt) / 1000 * limit)
    bucket.filledAt = now
    buckets.put(key, bucket)
    if (bucket.tokens < 1) {
      const seconds = limit === 0 ? longestWaitSeconds : Math.ceil((1 - bucket.tokens) / limit)
      return Effect.fail(new RateExceeded({ quota, limit, retryAfterSeconds: Math.min(longestWaitSeconds, seconds) }))
    }
    bucket.tokens -= 1
    return Effect.void
  }

  return {
    admit: ({ key, principal }) =>
      Effect.flatMap(limits.of(principal.tenantId), (all) =>
        Effect.flatMap(monotonicMillis, (now) => {
          const quota = rateOf(principal)
          return take(key, quota, all[quota], now)
        })),
    withUploadSlot: ({ key, principal }, upload) =>
      Effect.flatMap(limits.of(principal.tenantId), ({ uploadsPerClient }) => {
        const enter = Effect.suspend(() => {
          if (uploads.of(key) >= uploadsPerClient) {
            return Effect.fail(new RateExceeded({ quota: "uploadsPerClient", limit: uploadsPerClient, retryAfterSeconds: retrySeconds }))
          }
          uploads.add(key, 1)
          return Effect.void
        })
        return Effect.acquireUseRelease(enter, () => upload, () => Effect.sync(() => uploads.add(key, -1)))
      }),
    withLargeAnswer: <A, E, R>({ key }: QuotaClient, read: Effect.Effect<A, E, R>) => Effect.suspend((): Effect.Effect<A, E | RateExceeded, R> => {
      const own = reads.get(key) ?? { turns: Semaphore.makeUnsafe(readsPerClient), requests: 0 }
      if (own.requests >= largeAnswersPerClient) return Effect.fail(largeAnswersExceeded)
      own.requests += 1
      reads.set(key, own)
      return Effect.ensuring(own.turns.withPermit(read), Effect.sync(() => {
        own.requests -= 1
        if (own.requests === 0) reads.delete(key)
      }))
    }),
    withBodyBytes: ({ key }, request) => Effect.suspend(() => {
      let taken = 0
      const take: TakeBytes = (bytes) => Effect.suspend(() => {
        const own = bodyBytes.of(key) + bytes
        if (own > maxBodyBytesPerClient) return Effect.fail(bodyBytesExceeded)
        if (own > ownBodyBytesPerClient && bodyBytes.total + bytes > maxBodyBytesPerProcess) return Effect.fail(allBodyBytesExceeded)
        bodyBytes.add(key, bytes)
        taken += bytes
        return Effect.void
      })
      return Effect.ensuring(request(take), Effect.sync(() => bodyBytes.add(key, -taken)))
    })
  }
})

const largeAnswersExceeded = new RateExceeded({ quota: "largeAnswersPerClient", limit: largeAnswersPerClient, retryAfterSeconds: retrySeconds })

const bodyBytesExceeded = new RateExceeded({ quota: "bodyBytesPerClient", limit: maxBodyBytesPerClient, retryAfterSeconds: retrySeconds })

const allBodyBytesExceeded = new RateExceeded({ quota: "bodyBytesPerProcess", limit: maxBodyBytesPerProcess, retryAfterSeconds: retrySeconds })

const rateOf = (principal: Principal): keyof Limits => isCarrier(principal) ? "requestsPerSecondPerCarrier" : "requestsPerSecondPerCustomer"
