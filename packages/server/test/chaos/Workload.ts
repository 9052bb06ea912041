/** The shipments, events and subscriptions of a run, and which subscription must receive which event. Pure calculation. */
import type { ReportedEvent } from "@waybill/client"
import type { ChaosPlan } from "./Plan.ts"

const types = ["PICKED_UP", "DEPARTED_TERMINAL", "IN_TRANSIT", "ARRIVED_AT_TERMINAL", "DELAY", "OUT_FOR_DELIVERY"] as const

/** Batch sizes of an account's subscriptions. */
const batchSizes = [2, 5, 20, 50, 200]

/** Behaviour of a receiver. Only subscriptions with the first two have a measured recovery time. */
export type ReceiverBehaviour = "healthy" | "slow" | "failing" | "dropping" | "late" | "limited"

const faultyBehaviours: ReadonlyArray<ReceiverBehaviour> = ["failing", "dropping", "late", "limited"]

/** Subscriptions that share a host and port. */
const perOrigin = 5

export interface Subscriber {
  readonly index: number
  readonly tenant: string
  readonly account: string
  readonly secretId: string
  readonly batchMaxSize: number
  readonly eventTypes: ReadonlyArray<typeof types[number]> | undefined
  readonly origin: number
  readonly behaviour: ReceiverBehaviour
}

export interface EventPlace {
  readonly shipment: number
  /** From 1, in order of publication. */
  readonly number: number
}

export class Workload {
  readonly plan: ChaosPlan
  readonly tenants: ReadonlyArray<string>
  readonly accounts: ReadonlyArray<string>
  readonly shipments: number
  readonly subscribers: ReadonlyArray<Subscriber>
  readonly origins: number
  private readonly byAccount = new Map<string, Array<Subscriber>>()

  constructor(plan: ChaosPlan) {
    this.plan = plan
    this.tenants = Array.from({ length: plan.tenants }, (_, index) => `tenant-${index}`)
    this.accounts = Array.from({ length: Math.max(1, Math.floor(plan.subscriptions / plan.tenants / batchSizes.length)) }, (_, index) => `A-${index}`)
    this.shipments = Math.ceil(plan.events / plan.eventsPerShipment)
    this.subscribers = Array.from({ length: plan.subscriptions }, (_, index) => this.subscriber(index))
    this.origins = Math.ceil(plan.subscriptions / perOrigin)
    for (const subscriber of this.subscribers) {
      const key = `${subscriber.tenant} ${subscriber.account}`
      this.byAccount.set(key, [...this.byAccount.get(key) ?? [], subscriber])
    }
  }

  private subscriber(index: number): Subscriber {
    const { tenants } = this.plan
    const ofTenant = Math.floor(index / tenants)
    const origin = Math.floor(index / perOrigin)
    return {
      index,
      tenant: this.tenants[index % tenants]!,
      account: this.accounts[ofTenant % this.accounts.length]!,
      secretId: `secret-${index}`,
      // The first account's smallest batch is even smaller: one event.
      batchMaxSize: ofTenant === 0 ? 1 : batchSizes[Math.floor(ofTenant / this.accounts.length) % batchSizes.length]!,
      eventTypes: index % 7 === 3 ? types.filter((_, at) => at % 2 === 0) : undefined,
      origin,
      behaviour: origin % 2 === 0 ? (index % 4 === 3 ? "slow" : "healthy") : faultyBehaviours[index % faultyBehaviours.length]!
    }
  }

  /** Whether faults leave its connections intact. */
  isStable(origin: number): boolean {
    return origin % 2 === 0
  }

  tenantOf(shipment: number): string {
    return this.tenants[shipment % this.plan.tenants]!
  }

  accountOf(shipment: number): string {
    return this.accounts[Math.floor(shipment / this.plan.tenants) % this.accounts.length]!
  }

  shipmentId(shipment: number): string {
    return `${this.tenantOf(shipment)}.S-${shipment}`
  }

  typeOf({ number, shipment }: EventPlace) {
    return types[(shipment + number) % types.length]!
  }

  eventId(place: EventPlace): string {
    return `${this.shipmentId(place.shipment)}.${place.number}`
  }

  placeOf(eventId: string): EventPlace | undefined {
    const match = /^tenant-\d+\.S-(\d+)\.(\d+)$/.exec(eventId)
    if (match === null) return undefined
    const place = { shipment: Number(match[1]), number: Number(match[2]) }
    return this.eventId(place) === eventId ? place : undefined
  }

  reported(place: EventPlace): ReportedEvent {
    const terminal = { name: "Chicago terminal", city: "Chicago", state: "IL", postalCode: "60608", country: "USA" }
    return {
      eventId: this.eventId(place),
      type: this.typeOf(place),
      occurredAt: new Date(Date.UTC(2026, 10, 20, 8) + place.number * 60_000).toISOString(),
      shipment: { shipmentId: this.shipmentId(place.shipment), origin: terminal, destination: terminal },
      parties: { accounts: [this.accountOf(place.shipment)] }
    }
  }

  receives(subscriber: Subscriber, place: EventPlace): boolean {
    return subscriber.tenant === this.tenantOf(place.shipment) && subscriber.account === this.accountOf(place.shipment) &&
      (subscriber.eventTypes?.includes(this.typeOf(place)) ?? true)
  }

  entitled(place: EventPlace): ReadonlyArray<Subscriber> {
    const candidates = this.byAccount.get(`${this.tenantOf(place.shipment)} ${this.accountOf(place.shipment)}`) ?? []
    return candidates.filter((subscriber) => this.receives(subscriber, place))
  }

  /** The previous event of that shipment for this subscriber; 0 when there is none. */
  before(subscriber: Subscriber, { number, shipment }: EventPlace): number {
    for (let earlier = number - 1; earlier > 0; earlier--) if (this.receives(subscriber, { shipment, number: earlier })) return earlier
    return 0
  }
}
