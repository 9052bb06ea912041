/** How much a worker may have under way at once, and how much of it one lane, one client and one tenant. */
import { AttemptShares, type LaneOwner } from "./AttemptShares.ts"
import type { DeliveryOptionValues } from "./DeliveryOptions.ts"

/** A nearly full worker waits this long for more room, rather than ask storage about every place that becomes free. */
const patienceMillis = 20

/** Attempts that one claim should start, about. */
const attemptsPerClaim = 512
const fewestLanesPerClaim = 8
const mostLanesPerClaim = 256

type Limits = Pick<DeliveryOptionValues, "concurrency" | "laneConcurrency" | "maxBytesInFlight" | "maxLanes">

export class AttemptRoom {
  underWay = 0
  /** Attempts that ended and are not written yet. */
  unwritten = 0
  private promised = 0
  private bytes = 0
  private lanesAsked = 0
  private lanesPerClaim = 64
  /** When each loop of a nearly full worker asks for lanes all the same: what is under way may hang. */
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

  /** Attempts that one lane may have under way, whoever it belongs to. */
  get perLane(): number {
    return this.perLaneWith(this.free / this.limits.concurrency)
  }

  /** Attempts that this lane may start now. */
  of(lane: LaneOwner & { readonly underWay: number }): number {
    const { free, left } = this.shares.roomFor(lane)
    const perLane = Math.min(this.perLane, this.perLaneWith(left))
    return Math.max(0, Math.min(perLane - lane.underWay, this.free, free))
  }

  /** Whether this lane's client, or its tenant, has all that it may have under way, while there is room for others. */
  isFullFor(lane: LaneOwner): boolean {
    return this.shares.roomFor(lane).free === 0
  }

  /**
   * Once half of the room is taken, the fewer the less is left: by the defaults 128 lanes whose receivers hang would take all of
   * it, and so it takes 476 of them. Of a client's part likewise.
   */
  private perLaneWith(left: number): number {
    return Math.ceil(this.limits.laneConcurrency * Math.min(1, 2 * left) ** 2)
  }

  /** New lanes that one loop may ask for, beside the so many that are held; each of them can start something. */
  newLanes(now: number, held: number, loop: "arrived" | "due"): number {
    const { patientUntil } = this
    const crowded = this.free < this.limits.concurrency / 8
    if (crowded && patientUntil[loop] === Infinity) patientUntil[loop] = now + patienceMillis
    if (crowded && now < patientUntil[loop]) return 0
    patientUntil[loop] = Infinity
    return Math.max(0, Math.min(this.lanesPerClaim, this.limits.maxLanes - held - this.lanesAsked, Math.ceil(this.free / 2)))
  }

  /** Small claims keep storage and sending busy side by side; lanes with little in them are claimed by the hundred. */
  adapt(started: number, full: boolean): void {
    if (started > attemptsPerClaim) this.lanesPerClaim = Math.max(fewestLanesPerClaim, Math.floor(this.lanesPerClaim / 2))
    else if (full && started < attemptsPerClaim / 2) this.lanesPerClaim = Math.min(mostLanesPerClaim, this.lanesPerClaim * 2)
  }

  /** While a claim for new lanes is under way, another leaves them their places. */
  ask(lanes: number): void {
    this.lanesAsked += lanes
  }

  /** Attempts that are to be started once they are frozen. A negative number takes it back. */
  promise(lane: LaneOwner, attempts: number): void {
    this.promised += attempts
    this.shares.add(lane, attempts, 0)
  }

  /** One that was promised starts. */
  begin(lane: LaneOwner, bytes: number): void {
    this.promised -= 1
    this.underWay += 1
    this.bytes += bytes
    this.shares.add(lane, 0, bytes)
  }

  end(lane: LaneOwner, bytes: number): void {
    this.underWay -= 1
    this.bytes -= bytes
    this.unwritten += 1
    this.shares.add(lane, -1, -bytes)
  }

  written(attempts: number): void {
    this.unwritten -= attempts
  }
}
