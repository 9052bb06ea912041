/** Checks the POSTs of workers: permitted, to the right receiver, with the right body and headers. */
import { type WebhookRequest } from "@waybill/core"
import { type Permits, permitOf } from "./FreezeAudit.ts"
import type { Ledger, LedgerDelivery } from "./Ledger.ts"
import type { SimulationContext } from "./SimulationContext.ts"

/** Standard Webhooks tells receivers to refuse timestamps that are five minutes off; half of that is left for the network. */
const toleratedMillis = 150_000

/** A claim before the end of access may lead to an attempt this much later, if no fault slows it down. */
const claimToSendMillis = 50

const decoder = new TextDecoder()

export type Sha256 = (key: Uint8Array, chunks: ReadonlyArray<Uint8Array>) => Uint8Array

export interface Post {
  readonly delivery: LedgerDelivery
  /** Its key in `Outcomes`. */
  readonly permit: string
  /** The token of its lease. */
  readonly token: number
  /** Attempts since the last manual retry by its claim, including this one. */
  readonly tries: number
}

export class PostAudit {
  private readonly simulation: SimulationContext
  private readonly ledger: Ledger
  private readonly sha256: Sha256
  /** Whether processes, store and network have no faults. */
  private readonly onlyReceiversFail: boolean

  constructor(simulation: SimulationContext, ledger: Ledger, sha256: Sha256, onlyReceiversFail: boolean) {
    this.simulation = simulation
    this.ledger = ledger
    this.sha256 = sha256
    this.onlyReceiversFail = onlyReceiversFail
  }

  /** `permits`: the worker's permits, each for one POST. `clockSetStep`: when its clock was last changed; the worker corrects for it at its next claim. */
  posted(who: string, request: WebhookRequest, { clockSetStep, permits }: { readonly permits: Permits; readonly clockSetStep: number }): Post | undefined {
    const { simulation } = this
    const id = request.headers["webhook-id"] ?? ""
    const delivery = this.ledger.deliveries.get(id)
    if (delivery === undefined) {
      simulation.violate("Only frozen deliveries are sent", `${who} sends ${id}`)
      return undefined
    }
    let permit: string | undefined
    for (let attempt = 1; attempt <= delivery.attempt && permit === undefined; attempt++) {
      if (permits.has(permitOf(id, attempt))) permit = permitOf(id, attempt)
    }
    if (permit === undefined) {
      simulation.violate("Every POST was counted as an attempt before it was sent", `${who} sends ${id} after ${delivery.attempt} attempts`)
      return undefined
    }
    const { claimed, claimedStep, keys, token } = permits.get(permit)!
    permits.delete(permit)
    if (request.url !== claimed.endpointUrl) simulation.violate("A delivery is sent to its own receiver", `${id} of ${delivery.destination.name} to ${request.url}`)
    if (decoder.decode(request.body) !== delivery.body) simulation.violate("Every attempt of a delivery has the same body", `${id}: ${decoder.decode(request.body)}`)
    this.compareHeaders(id, request, keys, clockSetStep < claimedStep)
    const endedAt = this.ledger.access.endedAt(delivery.destination, delivery.keys, simulation.storeNow)
    if (this.onlyReceiversFail && endedAt !== undefined && simulation.storeNow - endedAt > claimToSendMillis) {
      simulation.violate("No event is sent after its client lost access to it", `${id} of ${delivery.destination.name}, ${simulation.storeNow - endedAt} ms after its access ended`)
    }
    for (const entry of delivery.entries) {
      if (entry.before?.passed === false && !delivery.entries.includes(entry.before)) {
        simulation.violate("An event is sent after the shipment's previous event is accepted or dead", `${id} has ${entry.key}/${entry.sequence}, and ${entry.before.sequence} is neither`)
      }
    }
    delivery.posts += 1
    simulation.counts.posts += 1
    if (delivery.posts > 1) simulation.counts.duplicates += 1
    delivery.destination.inFlight.set(token, (delivery.destination.inFlight.get(token) ?? 0) + 1)
    return { delivery, permit, token, tries: 1 + (claimed.due.find((due) => due.deliveryId === id)?.tries ?? 0) }
  }

  private compareHeaders(id: string, { body, headers }: WebhookRequest, keys: ReadonlyArray<Uint8Array>, timed: boolean): void {
    const timestamp = headers["webhook-timestamp"] ?? ""
    const off = Number(timestamp) * 1000 - this.simulation.storeNow
    if (!/^\d{10}$/.test(timestamp) || (timed && Math.abs(off) > toleratedMillis)) this.simulation.violate("webhook-timestamp is the time of the attempt, within the tolerance of receivers", `${id}: ${off} ms off`)
    const prefix = Buffer.from(`${id}.${timestamp}.`)
    const expected = keys.map((key) => `v1,${Buffer.from(this.sha256(key, [prefix, body])).toString("base64")}`).join(" ")
    if (headers["webhook-signature"] !== expected) this.simulation.violate("An attempt is signed with every secret that was active at its claim", id)
  }
}
