/** Writes the demo's freight over HTTP as the shipper and the carrier. Every write is idempotent. */
import { DocumentsClient, IntakeClient, InvoicesClient, PickupsClient, WaybillProblem } from "@waybill/client"
import { Effect, Schema } from "effect"
import { setTimeout } from "node:timers/promises"
import { messageOf } from "../ErrorMessage.ts"
import type { ServerConfig } from "../config/ServerConfig.ts"
import type { TimedWrites } from "./DemoJourney.ts"
import { invoiceLine, pickupLine } from "./DemoLines.ts"
import { driverStatuses } from "./DemoPickup.ts"

export class WriteFailed extends Schema.TaggedError<WriteFailed>()("WriteFailed", {
  message: Schema.String,
  /** True if a retry cannot help. */
  final: Schema.Boolean
}) {}

interface WriterOptions {
  readonly url: string
  /** Base paths that differ from the defaults. */
  readonly basePaths?: Pick<ServerConfig["basePaths"], "invoices" | "pickups">
  /** Called for each request. */
  readonly carrierKey: () => string
  readonly shipperKey: () => string
  /** Publishes events otherwise than by a call of intake. */
  readonly publishEvents?: ((events: TimedWrites["events"]) => Promise<void>) | undefined
  /** Prints data for which there is no webhook. */
  readonly print: (line: string) => void
}

/** How long an order may wait before the carrier reads its work list. */
const waitingMillis = 300

/** How old an order may be that the demo's carrier accepts. */
const recentMillis = 60_000

/** Writes everything of one time. Rejects with the client's error of the failed call. */
export const makeWriter = ({ basePaths, carrierKey, shipperKey, print, publishEvents, url }: WriterOptions): (writes: TimedWrites, signal: AbortSignal) => Promise<void> => {
  const asCarrier = { baseUrl: url, apiKey: carrierKey }
  const carrier = new IntakeClient(asCarrier)
  const invoices = new InvoicesClient({ ...asCarrier, basePath: basePaths?.invoices })
  const documents = new DocumentsClient({ ...asCarrier, basePath: basePaths?.invoices })
  const shipper = new PickupsClient({ baseUrl: url, apiKey: shipperKey, basePath: basePaths?.pickups })
  /** The carrier's pickup numbers by order key. */
  const numbers = new Map<string, string>()

  /** Accepts the demo's orders that wait for a decision. */
  const acceptWaiting = async (signal: AbortSignal) => {
    const { data } = await carrier.listPickupChanges({ status: "Call us", since: new Date(Date.now() - recentMillis) }, { signal })
    for (const pickupId of new Set(data.map((each) => each.pickupId))) {
      try {
        await carrier.decidePickup(pickupId, { decision: "accept", scac: "DEMO", carrierName: "Demo Freight" }, { signal })
      } catch (error) {
        // an operator decided first
        if (!(error instanceof WaybillProblem && error.code === "pickup_decided")) throw error
      }
    }
  }

  const order = async ({ key, order }: TimedWrites["orders"][number], signal: AbortSignal) => {
    const ordered = shipper.create(order, { idempotencyKey: `demo ${key}`, signal })
    const answered = ordered.then(() => true, () => true)
    // with WAYBILL_PICKUPS=desk the order waits for the carrier
    while (!await Promise.race([answered, setTimeout(waitingMillis, false, { signal })])) await acceptWaiting(signal)
    const [{ carrierPickupNumber }] = await ordered
    if (carrierPickupNumber !== null) numbers.set(key, carrierPickupNumber)
  }

  const reportPickup = async ({ key, report }: TimedWrites["pickups"][number], signal: AbortSignal) => {
    const number = numbers.get(key)
    if (number === undefined) return
    const { visibility: { status } } = await carrier.getPickupRecord(number, { signal })
    // Skip reports that the driver already made, and pickups that were cancelled.
    const done = (["Accepted", ...driverStatuses] as ReadonlyArray<string>).indexOf(status) - 1
    if (done === -2 || driverStatuses.indexOf(report.status) <= done) return
    await carrier.reportPickupStatus(number, report, { signal })
    print(pickupLine(number, key, report.status))
  }

  const invoice = async ({ invoice, proof }: TimedWrites["invoices"][number], signal: AbortSignal) => {
    await invoices.create(invoice, { signal })
    const { data: there } = await documents.list({ invoiceNumber: proof.invoiceNumber }, { signal })
    if (there.length > 0) return
    await documents.upload(proof, { signal })
    print(invoiceLine(invoice))
  }

  return async (writes, signal) => {
    for (const each of writes.orders) await order(each, signal)
    for (const each of writes.pickups) await reportPickup(each, signal)
    // Shipments before their events: subscribers only receive events of registered shipments.
    if (writes.shipments.length > 0) await carrier.registerShipments(writes.shipments, { signal })
    if (writes.events.length > 0) await (publishEvents === undefined ? carrier.publishTransitEvents(writes.events, { signal }) : publishEvents(writes.events))
    if (writes.charges.length > 0) await carrier.publishFreightCharges(writes.charges, { signal })
    for (const each of writes.invoices) await invoice(each, signal)
  }
}

export const demoWriter = (options: WriterOptions): (writes: TimedWrites) => Effect.Effect<void, WriteFailed> => {
  const write = makeWriter(options)
  return (writes) =>
    Effect.tryPromise({
      try: (signal) => write(writes, signal),
      catch: (error) => new WriteFailed({ message: messageOf(error), final: error instanceof WaybillProblem && error.status === 400 })
    })
}
