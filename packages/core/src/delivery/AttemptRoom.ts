/** How much a worker may have under way at once, and how much of it one destination, one client and one tenant. */
import { AttemptShares, type DestinationOwner } from "./AttemptShares.ts"
import type { DeliveryOptionValues } from "./DeliveryOptions.ts"

/** A nearly full worker waits this long for more room, rather than ask storage about every place that becomes free. */
const patienceMillis = 20

/** Attempts that one claim should start, about. */
const attemptsPerClaim = 512
const fewestDestinationsPerClaim = 8
const mostDestinationsPerClaim = 256

type Limits = Pick<DeliveryOptionValues, "concurrency" | "destinationConcurrency" | "maxBytesInFlight" | "maxDestinations">

export class AttemptRoom {
  underWay = 0
  /** Attempts that ended and are not written yet. */
  unwritten = 0
  private promised = 0
  private bytes = 0
  private destinationsAsked = 0
  private destinationsPerClaim = 64
  /** When each loop of a nearly full worker asks for destinations all the same: what is under way may hang. */
  readonly patientUntil = { arrived: Infinity, due: Infinity }
  private readonly limits: Limits
  private readonly shares: AttemptShares

  constructor(limits: Limits) {
    this.limits = limits
    this.shares = new AttemptShares({ attempts: limits.concurrency, bytes: limits.maxBytesInFlight })
  }

  /** Attempts that may still be started. */
  get free(): number {
    return Math.max(0, this.limits.concurrency - this.underWay - this.promised)
  }

  get freeBytes(): number {
    return Math.max(0, this.limits.maxBytesInFlight - this.bytes)
  }

  /** Outcomes that storage is slow to write hold back the next attempts, or they would pile up without end. */
  get isFull(): boolean {
    return this.free === 0 || this.freeBytes === 0 || this.unwritten >= this.limits.concurrency
  }

  /** Attempts that one destination may have under way, whoever it belongs to. */
  get perDestination(): number {
    return this.perDestinationWith(this.free / this.limits.concurrency)
  }

  /** Attempts that this destination may start now. */
  of(destination: DestinationOwner & { readonly underWay: number }): number {
    const { free, left } = this.shares.roomFor(destination)
    const perDestination = Math.min(this.perDestination, this.perDestinationWith(left))
    return Math.max(0, Math.min(perDestination - destination.underWay, this.free, free))
  }

  /** Whether this destination's client, or its tenant, has all that it may have under way, while there is room for others. */
  isFullFor(destination: DestinationOwner): boolean {
    return this.shares.roomFor(destination).free === 0
  }

  /**
   * Once half of the room is taken, the fewer the less is left: by the defaults 128 destinations whose receivers hang would take all of
   * it, and so it takes 476 of them. Of a client's part likewise.
   */
  private perDestinationWith(left: number): number {
    return Math.ceil(this.limits.destinationConcurrency * Math.min(1, 2 * left) ** 2)
  }

  /** New destinations that one loop may ask for, beside the so many that are held; each of them can start something. */
  newDestinations(now: number, held: number, loop: "arrived" | "due"): number {
    const { patientUntil } = this
    const crowded = this.free < this.limits.concurrency / 8
    if (crowded && patientUntil[loop] === Infinity) patientUntil[loop] = now + patienceMillis
    if (crowded && now < patientUntil[loop]) return 0
    patientUntil[loop] = Infinity
    return Math.max(0, Math.min(this.destinationsPerClaim, this.limits.maxDestinations - held - this.destinationsAsked, Math.ceil(this.free / 2)))
  }

  /** Small claims keep storage and sending busy side by side; destinations with little in them are claimed by the hundred. */
  adapt(started: number, full: boolean): void {
    if (started > attemptsPerClaim) this.destinationsPerClaim = Math.max(fewestDestinationsPerClaim, Math.floor(this.destinationsPerClaim / 2))
    else if (full && started < attemptsPerClaim / 2) this.destinationsPerClaim = Math.min(mostDestinationsPerClaim, this.destinationsPerClaim * 2)
  }

  /** While a claim for new destinations is under way, another leaves them their places. */
  ask(destinations: number): void {
    this.destinationsAsked += destinations
  }

  /** Attempts that are to be started once they are frozen. A negative number takes it back. */
  promise(destination: DestinationOwner, attempts: number): void {
    this.promised += attempts
    this.shares.add(destination, attempts, 0)
  }

  /** One that was promised starts. */
  begin(destination: DestinationOwner, bytes: number): void {
    this.promised -= 1
    this.underWay += 1
    this.bytes += bytes
    this.shares.add(destination, 0, bytes)
  }

  end(destination: DestinationOwner, bytes: number): void {
    this.underWay -= 1
    this.bytes -= bytes
    this.unwritten += 1
    this.shares.add(destination, -1, -bytes)
  }

  written(attempts: number): void {
    this.unwritten -= attempts
  }
}
