/** What a worker may send, and how it must look. */
import { type WebhookRequest } from "@waybill/core"
import { type Permits, permitOf } from "./FreezeAudit.ts"
import type { Ledger, LedgerDelivery } from "./Ledger.ts"
import type { SimulationContext } from "./SimulationContext.ts"

/** Standard Webhooks has receivers refuse what is five minutes off; half of that is the network's. */
const toleratedMillis = 150_000

/** What a claim handed out before access ended is frozen and sent within this long, where nothing is slow. */
const onItsWayMillis = 50

const decoder = new TextDecoder()

export type Sha256 = (key: Uint8Array, chunks: ReadonlyArray<Uint8Array>) => Uint8Array

export interface Post {
  readonly delivery: LedgerDelivery
  /** Names it in `Outcomes`. */
  readonly permit: string
  /** The lease it goes out under. */
  readonly token: number
  /** Attempts since the last manual retry as its claim told, this one included. */
  readonly tries: number
}

export class PostAudit {
  private readonly simulation: SimulationContext
  private readonly ledger: Ledger
  private readonly sha256: Sha256
  /** Nothing but receivers misbehaves. */
  private readonly undisturbed: boolean

  constructor(simulation: SimulationContext, ledger: Ledger, sha256: Sha256, undisturbed: boolean) {
    this.simulation = simulation
    this.ledger = ledger
    this.sha256 = sha256
    this.undisturbed = undisturbed
  }

  /** `permits`: the worker's, each good for one POST. `clockSetIn`: when its clock was set last; it knows of that from its next claim on. */
  posted(who: string, request: WebhookRequest, { clockSetIn, permits }: { readonly permits: Permits; readonly clockSetIn: number }): Post | undefined {
    const { simulation } = this
    const id = request.headers["webhook-id"] ?? ""
    const delivery = this.ledger.deliveries.get(id)
    if (delivery === undefined) {
      simulation.violate("Only what was frozen is sent", `${who} sends ${id}`)
      return undefined
    }
    let permit: string | undefined
    for (let attempt = 1; attempt <= delivery.attempt && permit === undefined; attempt++) {
      if (permits.has(permitOf(id, attempt))) permit = permitOf(id, attempt)
    }
    if (permit === undefined) {
      simulation.violate("Every POST was counted as an attempt before", `${who} sends ${id} after ${delivery.attempt} attempts`)
      return undefined
    }
    const { claimed, claimedIn, keys, token } = permits.get(permit)!
    permits.delete(permit)
    if (request.url !== claimed.endpointUrl) simulation.violate("A delivery goes to its own receiver", `${id} of ${delivery.lane.name} to ${request.url}`)
    if (decoder.decode(request.body) !== delivery.body) simulation.violate("Every attempt has the same bytes", `${id}: ${decoder.decode(request.body)}`)
    this.compareHeaders(id, request, keys, clockSetIn < claimedIn)
    const endedAt = this.ledger.access.endedAt(delivery.lane, delivery.keys, simulation.storeNow)
    if (this.undisturbed && endedAt !== undefined && simulation.storeNow - endedAt > onItsWayMillis) {
      simulation.violate("Nothing is sent that its client may no longer see", `${id} of ${delivery.lane.name}, ${simulation.storeNow - endedAt} ms after its access ended`)
    }
    for (const entry of delivery.entries) {
      if (entry.before?.passed === false && !delivery.entries.includes(entry.before)) {
        simulation.violate("A shipment's next event waits until the one before is accepted or dead", `${id} has ${entry.key}/${entry.sequence}, and ${entry.before.sequence} is neither`)
      }
    }
    delivery.posts += 1
    simulation.counts.posts += 1
    if (delivery.posts > 1) simulation.counts.duplicates += 1
    delivery.lane.flights.set(token, (delivery.lane.flights.get(token) ?? 0) + 1)
    return { delivery, permit, token, tries: 1 + (claimed.due.find((due) => due.deliveryId === id)?.tries ?? 0) }
  }

  private compareHeaders(id: string, { body, headers }: WebhookRequest, keys: ReadonlyArray<Uint8Array>, timed: boolean): void {
    const timestamp = headers["webhook-timestamp"] ?? ""
    const off = Number(timestamp) * 1000 - this.simulation.storeNow
    if (!/^\d{10}$/.test(timestamp) || (timed && Math.abs(off) > toleratedMillis)) this.simulation.violate("An attempt is dated by its own time, within what receivers tolerate", `${id}: ${off} ms off`)
    const prefix = Buffer.from(`${id}.${timestamp}.`)
    const expected = keys.map((key) => `v1,${Buffer.from(this.sha256(key, [prefix, body])).toString("base64")}`).join(" ")
    if (headers["webhook-signature"] !== expected) this.simulation.violate("An attempt is signed with every secret that was live when it was claimed", id)
  }
}
