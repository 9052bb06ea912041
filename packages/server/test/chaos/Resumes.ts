/** Measures how soon subscriptions recover after their worker failed. */
import type { Subscriber } from "./Workload.ts"
import type { ChaosPlan } from "./Plan.ts"
import type { Violated } from "./Rules.ts"
import type { Starvation } from "./Starvation.ts"

interface Awaited {
  readonly subscriber: Subscriber
  readonly cause: string
  /** Milliseconds since 1970. */
  readonly from: number
  /** Start of the measurement: `from`, or the time of a later fault. */
  since: number
  /** Requests that were in flight before count too. */
  readonly underWayCounts: boolean
  /** Number of takeovers since then. */
  takeovers: number
}

/** Milliseconds since 1970. */
interface Lease {
  /** Who owns the partition. */
  readonly worker: string
  readonly ownedSince: number
  /** When it expires; `undefined` when it was released. */
  readonly until: number | undefined
}

interface Outage {
  readonly from: number
  to: number
}

export class Resumes {
  private readonly leaseMillis: number
  private readonly resumeMillis: number
  private readonly starvation: Starvation
  worstMillis = 0
  /** From the first fault, including later ones. */
  worstWholeMillis = 0
  /** Slowdown of the machine at the worst measurement. */
  worstFactor = 1
  measured = 0
  /** The new worker failed too before it delivered. */
  struckAgain = 0
  private readonly awaited = new Map<number, Awaited>()
  private readonly outages: Array<Outage> = []
  /** Last known lease of each subscription. */
  private readonly leases = new Map<number, Lease>()
  private readonly violated: Violated

  constructor({ leaseSeconds, resumeSeconds }: ChaosPlan, starvation: Starvation, violated: Violated) {
    this.leaseMillis = leaseSeconds * 1000
    this.resumeMillis = resumeSeconds * 1000
    this.starvation = starvation
    this.violated = violated
  }

  /** A later cause replaces an earlier one, because the subscription has another owner. */
  await(subscriber: Subscriber, cause: string, since: number, underWayCounts: boolean): void {
    this.awaited.set(subscriber.index, { subscriber, cause, from: since, since, underWayCounts, takeovers: 0 })
  }

  /** The database is unavailable or full, until the returned function is called. */
  outage(): () => void {
    const outage = { from: Date.now(), to: Infinity }
    this.outages.push(outage)
    return () => {
      outage.to = Date.now()
    }
  }

  /** Records the lease of a subscription's partition from the database. */
  saw(index: number, lease: Lease): void {
    const before = this.leases.get(index)
    this.leases.set(index, lease)
    const awaited = this.awaited.get(index)
    if (awaited === undefined || before === undefined || before.worker === lease.worker) return
    // A released lease is not a takeover; the next one may start when the old one expires.
    if (before.until === undefined || lease.ownedSince < before.until - 10) return
    awaited.takeovers += 1
    if (awaited.takeovers === 1) return
    this.struckAgain += 1
    awaited.since = Math.max(awaited.since, Math.min(lease.ownedSince, Date.now()))
  }

  accepted(subscriber: Subscriber, requestedAt: number): void {
    const awaited = this.awaited.get(subscriber.index)
    if (awaited === undefined || (!awaited.underWayCounts && requestedAt < awaited.since)) return
    this.awaited.delete(subscriber.index)
    this.measure(awaited, Date.now())
  }

  private measure({ cause, from: first, since, subscriber }: Awaited, now: number): void {
    this.worstWholeMillis = Math.max(this.worstWholeMillis, now - first)
    const from = this.outages.reduce((latest, { from, to }) => from < now && to > latest ? Math.min(to, now) : latest, since)
    const took = now - from
    const factor = this.starvation.factorSince(from)
    this.measured += 1
    if (took > this.worstMillis) {
      this.worstMillis = took
      this.worstFactor = factor
    }
    // Leases expire by the clock; the following work depends on the speed of the machine.
    if (took > this.leaseMillis + this.resumeMillis * factor) {
      this.violated("a subscription resumes soon after its obstacle ends", `${subscriber.tenant}/${subscriber.index}: ${took} ms after ${cause}, on a machine ${factor.toFixed(1)} times slower than acquireExclusive`)
    }
  }

  /** At the end: reports subscriptions that never recovered. */
  judgeRest(): void {
    for (const awaited of this.awaited.values()) {
      this.violated("a subscription resumes soon after its obstacle ends", `${awaited.subscriber.tenant}/${awaited.subscriber.index}: never after ${awaited.cause}`)
    }
  }
}
