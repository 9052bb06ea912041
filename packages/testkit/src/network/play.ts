/** Plays a network into the service in memory, or through clients into a running server. */
import { checkOptions, type OptionKinds, optionKinds } from "@waybill/core"
import { Effect } from "effect"
import type { JourneyCall } from "../journeys/JourneyStep.ts"
import { makeCall, PickupNumbers } from "../journeys/makeCall.ts"
import type { StartedTestWaybill } from "../service/startTestWaybill.ts"
import type { NetworkCall } from "./freightNetwork.ts"
import type { NetworkCarrier, NetworkCustomer } from "./NetworkPlan.ts"

/** Clients that a carrier calls with; those of `@waybill/client` have these methods. Their arguments have the format of the area. */
export interface CarrierClients {
  readonly intake: {
    readonly registerShipments: (shipments: never) => Promise<unknown>
    readonly reportStatus: (updates: never) => Promise<unknown>
    readonly publishTransitEvents: (events: never) => Promise<unknown>
    readonly publishFreightCharges: (charges: never) => Promise<unknown>
    readonly reportPickupStatus: (pickupId: string, report: never) => Promise<unknown>
  }
  readonly invoices: { readonly create: (invoice: never) => Promise<unknown> }
  readonly documents: { readonly upload: (upload: never) => Promise<unknown> }
}

/** Clients that a customer calls with. */
export interface CustomerClients {
  readonly pickups: { readonly create: (order: never) => Promise<ReadonlyArray<{ readonly carrierPickupNumber: string | null }>> }
}

/** The clients of each caller. Return the same ones for all callers if they share a key. */
export interface NetworkClients {
  readonly carrier: (carrier: NetworkCarrier) => CarrierClients
  readonly customer: (customer: NetworkCustomer) => CustomerClients
}

/** How much of the network is played, and how fast. */
export interface PlayOptions {
  /** Ends after this number of calls; by default at the end of the network. */
  readonly calls?: number
  /** With clients: the maximum calls per second; by default as fast as they are answered. The service in memory has its own clock. */
  readonly perSecond?: number
  /** With clients: the number of concurrent calls, 16 by default. Calls of one shipment run one after the other. */
  readonly concurrency?: number
  /** Ends early, after the calls in flight. */
  readonly signal?: AbortSignal
  /** Called for each accepted call. */
  readonly onCall?: (call: NetworkCall) => void
  /** Called for each refused call, and playing continues; without it the first refusal is thrown. */
  readonly onRefused?: (error: unknown, call: NetworkCall) => void
}

/** What was sent, and what was refused. */
export interface Played {
  /** The number of accepted calls. */
  readonly calls: number
  readonly refused: number
  /** Accepted calls by method. */
  readonly byCall: Readonly<Partial<Record<JourneyCall["call"], number>>>
}

const kinds: OptionKinds<PlayOptions> = {
  calls: { what: "a number from 0", accepts: (value) => typeof value === "number" && value >= 0 },
  // checked with messages of their own
  perSecond: optionKinds.any,
  concurrency: optionKinds.any,
  signal: optionKinds.object,
  onCall: optionKinds.function,
  onRefused: optionKinds.function
}

/**
 * Makes the network's calls in order of time. With the service in memory the clock advances to each call. A server is called as fast
 * as it answers, or at the given rate, independent of the time of the call, so let its network start now.
 */
export const play = async (network: Iterable<NetworkCall>, target: StartedTestWaybill | NetworkClients, options: PlayOptions = {}): Promise<Played> => {
  checkOptions("play", options, kinds)
  const { calls: most = Infinity, concurrency = 16, onCall, onRefused, perSecond = Infinity, signal } = options
  if ("advanceTo" in target && (options.perSecond !== undefined || options.concurrency !== undefined)) {
    throw new TypeError("perSecond and concurrency are for clients: the service in memory has its own clock, and takes one call at a time.")
  }
  if (!(perSecond > 0)) throw new RangeError(`perSecond is a number above 0, not ${perSecond}.`)
  if (!(Number.isInteger(concurrency) && concurrency >= 1)) throw new RangeError(`concurrency is a whole number from 1, not ${concurrency}.`)
  const perform = "advanceTo" in target ? inMemory(target) : overClients(target)
  const byCall: Partial<Record<JourneyCall["call"], number>> = {}
  let [taken, refused, made] = [0, 0, 0]
  let failure: { readonly error: unknown } | undefined
  const lines = new ShipmentLines("advanceTo" in target ? 1 : concurrency)
  const beganAt = performance.now()

  const callOnce = async (call: NetworkCall) => {
    if (failure !== undefined) return
    try {
      await perform(call)
      taken += 1
      byCall[call.call] = (byCall[call.call] ?? 0) + 1
      onCall?.(call)
    } catch (error) {
      refused += 1
      if (onRefused === undefined) failure ??= { error }
      else onRefused(error, call)
    }
  }

  const isOver = () => made >= most || failure !== undefined || signal?.aborted === true
  for (const call of network) {
    if (isOver()) break
    const early = beganAt + made / perSecond * 1000 - performance.now()
    if (early > 1) await Effect.runPromiseExit(Effect.sleep(early), signal === undefined ? {} : { signal })
    if (isOver()) break
    made += 1
    await lines.begin(call.shipmentId, () => callOnce(call))
  }
  await lines.ended()
  if (failure !== undefined) throw failure.error
  return { calls: taken, refused, byCall }
}

/** Limits concurrency, and runs the calls of each shipment one after the other. */
class ShipmentLines {
  readonly #most: number
  readonly #inFlight = new Set<Promise<void>>()
  readonly #last = new Map<string, Promise<void>>()

  constructor(most: number) {
    this.#most = most
  }

  /** Waits for a free slot. `work` never rejects. */
  async begin(shipmentId: string, work: () => Promise<void>): Promise<void> {
    while (this.#inFlight.size >= this.#most) await Promise.race(this.#inFlight)
    const working = (this.#last.get(shipmentId) ?? Promise.resolve()).then(work)
    this.#last.set(shipmentId, working)
    const tracked = working.then(() => {
      this.#inFlight.delete(tracked)
      if (this.#last.get(shipmentId) === working) this.#last.delete(shipmentId)
    })
    this.#inFlight.add(tracked)
  }

  async ended(): Promise<void> {
    await Promise.all(this.#inFlight)
  }
}

const inMemory = (waybill: StartedTestWaybill) => {
  const numbers = new PickupNumbers()
  const { tenantId } = waybill
  return async (call: NetworkCall): Promise<void> => {
    if (new Date(call.at) > waybill.now()) await waybill.advanceTo(new Date(call.at))
    const by = "accounts" in call.by
      ? waybill.customer(call.by.client, call.by.accounts)
      : { tenantId, client: call.by.scac, roles: ["carrier"] as const, dot: call.by.dot, mc: call.by.mc }
    await makeCall(waybill, by, call.shipmentId, call, numbers)
  }
}

const overClients = (clients: NetworkClients) => {
  const numbers = new PickupNumbers()
  return async (call: NetworkCall): Promise<void> => {
    if ("accounts" in call.by) {
      if (call.call !== "pickups.create") throw new Error(`Customers do not call ${call.call}.`)
      const { pickups } = clients.customer(call.by)
      // a client sends it as JSON
      const order = { ...call.request, isTest: false }
      return numbers.ordered(call.shipmentId, await pickups.create(order as never))
    }
    const { documents, intake, invoices } = clients.carrier(call.by)
    switch (call.call) {
      case "shipments.register":
        return void await intake.registerShipments([call.shipment] as never)
      case "shipments.report":
        return void await intake.reportStatus([call.update] as never)
      case "events.publish":
        return void await intake.publishTransitEvents([call.event] as never)
      case "freightCharges.publish":
        return void await intake.publishFreightCharges([call.charge] as never)
      case "invoices.create":
        return void await invoices.create(call.invoice as never)
      case "documents.upload":
        return void await documents.upload(call.upload as never)
      case "pickups.report":
        return void await intake.reportPickupStatus(numbers.of(call.shipmentId, call.report), call.report as never)
      case "pickups.create":
        throw new Error("Carriers order no trucks.")
    }
  }
}
