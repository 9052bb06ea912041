/** Checks the POSTs of workers: permitted, to the right receiver, with the right body and headers, and within the rate. */
import { bytesOfBody, type HmacSha256, type WebhookRequest } from "@waybill/core/delivery"
import { type Ledger, type LedgerDelivery, type LedgerDestination, type LedgerKey, permitOf } from "./Ledger.ts"
import type { Permit, Permits } from "./TakeAudit.ts"
import type { SimulationContext } from "./SimulationContext.ts"

/** Standard Webhooks lets receivers refuse timestamps that are five minutes off; half of that is reserved for the network. */
const toleratedMillis = 150_000

/** A take before the end of access may lead to an attempt this much later, if no fault slows it down. */
const takeToSendMillis = 50

const windowMillis = 60_000

/** The share of a minute's attempts that may begin at once. */
const burstShare = 0.1

/** Clocks of workers differ from the store's by the time that calls take. */
const clockMillis = 100

const decoder = new TextDecoder()

export interface Post {
  readonly delivery: LedgerDelivery
  /** Its key in `Outcomes`. */
  readonly permit: string
  /** Attempts since the last manual retry, this one included. */
  readonly tries: number
}

/** A destination as a worker loaded it. */
export interface LoadedVersion {
  readonly version: number
  readonly endpointUrl: string
  readonly keys: ReadonlyArray<LedgerKey>
}

/** A process as its POSTs are checked. */
export interface Sender {
  readonly name: string
  /** Each for one POST. */
  readonly permits: Permits
  /** By tenant and destination, oldest first. */
  readonly loads: ReadonlyMap<string, ReadonlyArray<LoadedVersion>>
  /** The step of the schedule in which its clock was last changed. The worker corrects for it at its next take. */
  readonly clockSetStep: number
  /** When its last pause began, by the store's clock. */
  readonly pausedAt: number
}

export class PostAudit {
  private readonly simulation: SimulationContext
  private readonly ledger: Ledger
  private readonly sha256: HmacSha256
  /** Whether processes, store and network have no faults. */
  private readonly onlyReceiversFail: boolean

  constructor(simulation: SimulationContext, ledger: Ledger, sha256: HmacSha256, onlyReceiversFail: boolean) {
    this.simulation = simulation
    this.ledger = ledger
    this.sha256 = sha256
    this.onlyReceiversFail = onlyReceiversFail
  }

  posted(sender: Sender, request: WebhookRequest): Post | undefined {
    const { simulation } = this
    const id = request.headers["webhook-id"] ?? ""
    const delivery = this.ledger.deliveries.get(id)
    if (delivery === undefined) {
      simulation.violate("Only deliveries that were taken are sent", `${sender.name} sends ${id}`)
      return undefined
    }
    const name = this.permitFor(sender.permits, delivery)
    const permit = name === undefined ? undefined : sender.permits.get(name)
    if (name === undefined || permit === undefined) {
      simulation.violate("Every POST was counted as an attempt before it was sent", `${sender.name} sends ${id} after ${delivery.attempt} attempts`)
      return undefined
    }
    for (let each = 1; each <= delivery.attempt; each++) sender.permits.delete(permitOf(id, each))
    const body = decoder.decode(bytesOfBody(request.body))
    if (body !== delivery.body) simulation.violate("Every attempt of a delivery has the same body", `${id}: ${body}`)
    if (delivery.unsendable === delivery.attempt) simulation.violate("No delivery has more attempts than its policy allows", `${id} is sent after its last spare takeover`)
    this.compareLoaded(sender, request, permit)
    this.compareAccess(delivery)
    for (const entry of delivery.entries) {
      if (entry.before?.passed === false && !delivery.entries.includes(entry.before)) {
        simulation.violate("An event is sent after the shipment's previous event is accepted or dead", `${id} has ${entry.key}/${entry.sequence}, and ${entry.before.sequence} is neither`)
      }
    }
    this.compareLease(sender, delivery, permit)
    this.compareRate(sender, delivery, permit)
    delivery.posts += 1
    simulation.counts.posts += 1
    if (delivery.posts > 1) simulation.counts.duplicates += 1
    return { delivery, permit: name, tries: permit.tries }
  }

  private permitFor(permits: Permits, { attempt, id }: LedgerDelivery): string | undefined {
    // earlier attempts were returned unsent
    for (let each = attempt; each >= 1; each--) if (permits.has(permitOf(id, each))) return permitOf(id, each)
    return undefined
  }

  /** Endpoint and secrets are those of a version that its worker has loaded, and not older than its take. */
  private compareLoaded(sender: Sender, request: WebhookRequest, permit: Permit): void {
    const { simulation } = this
    const { destination, id } = permit.delivery
    const loads = (sender.loads.get(`${destination.tenantId}/${destination.destinationId}`) ?? []).filter(({ version }) => version >= permit.version)
    const used = loads.filter(({ endpointUrl }) => endpointUrl === request.url)
    if (used.length === 0) {
      return simulation.violate("A delivery is sent to the receiver of its destination", `${id} of ${destination.name} to ${request.url}, by version ${permit.version} or later`)
    }
    const timestamp = request.headers["webhook-timestamp"] ?? ""
    const off = Number(timestamp) * 1000 - simulation.storeNow
    const isTimed = sender.clockSetStep < permit.askedStep
    if (!/^\d{10}$/.test(timestamp) || (isTimed && Math.abs(off) > toleratedMillis)) simulation.violate("webhook-timestamp is the time of the attempt, within the tolerance of receivers", `${id}: ${off} ms off`)
    const content = [`${id}.${timestamp}.`, bytesOfBody(request.body)]
    const signed = (keys: ReadonlyArray<LedgerKey>) => keys.map(({ key }) => `v1,${this.sha256(key, content)}`).join(" ")
    const candidates = used.flatMap(({ keys }) => this.activeSince(keys, permit.askedAt))
    if (!candidates.some((keys) => signed(keys) === request.headers["webhook-signature"])) {
      simulation.violate("An attempt is signed with every secret that is active", `${id}, out of ${candidates.length}`)
    }
  }

  /** The keys that were active at each instant since then. */
  private activeSince(keys: ReadonlyArray<LedgerKey>, since: number): ReadonlyArray<ReadonlyArray<LedgerKey>> {
    const ends = keys.map(({ signsUntil }) => signsUntil).filter((end) => end >= since && end <= this.simulation.storeNow)
    return [since, ...ends].map((at) => keys.filter(({ signsUntil }) => signsUntil > at))
  }

  private compareAccess({ destination, id, keys }: LedgerDelivery): void {
    const { simulation } = this
    const endedAt = this.ledger.access.endedAt(destination, keys, simulation.storeNow)
    if (this.onlyReceiversFail && endedAt !== undefined && simulation.storeNow - endedAt > takeToSendMillis) {
      simulation.violate("No event is sent after its client lost access to it", `${id} of ${destination.name}, ${simulation.storeNow - endedAt} ms after its access ended`)
    }
  }

  /** A worker whose lease has expired sends nothing, unless it was suspended at that moment. */
  private compareLease({ name, pausedAt }: Sender, { destination, id }: LedgerDelivery, { learnedAt, ownership }: Permit): void {
    const late = this.simulation.storeNow - destination.partition.leaseEnds.get(ownership)!
    if (late > takeToSendMillis && pausedAt < learnedAt) this.simulation.violate("No attempt begins after the lease of its worker", `${name}: ${id}, ${late} ms late`)
  }

  /** Attempts keep the distance of the rate, also across owners: half an attempt too many is one. */
  private comparePace(destination: LedgerDestination, at: number): void {
    const limit = destination.settings.policy.rateLimitPerMinute
    const burst = Math.max(1, Math.floor(limit * burstShare))
    const spacing = windowMillis / (limit - burst + 1)
    destination.paidUntil = Math.max(destination.paidUntil, at) + spacing
    const early = destination.paidUntil - at - burst * spacing
    if (early > spacing / 2 + clockMillis) this.simulation.violate("Attempts keep the distance of their rate, also across owners", `${destination.name}: ${Math.round(early)} ms early`)
  }

  /** A process that was suspended between its decision and the POST is late by this time. */
  private compareRate({ pausedAt }: Sender, { destination }: LedgerDelivery, { learnedAt }: Permit): void {
    const at = pausedAt >= learnedAt ? pausedAt : this.simulation.storeNow
    destination.sends.push(at)
    const limit = destination.settings.policy.rateLimitPerMinute
    this.comparePace(destination, at)
    const times = destination.sends.filter((each) => each > at - windowMillis && each <= at)
    if (times.length > limit) {
      this.simulation.violate("Attempts in sixty seconds are within the rate limit", `${destination.name}: ${times.length} of ${limit}, the first ${at - Math.min(...times)} ms ago`)
    }
  }
}
