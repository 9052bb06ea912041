/** The carrier's system: publishes events over HTTP, retries until it gets a response, and records it. */
import { IntakeClient } from "@waybill/client"
import type { EventPlace, Workload } from "./Workload.ts"
import type { Ledger } from "./Ledger.ts"
import { pause, type Random } from "./Plan.ts"

interface PublisherOptions {
  readonly workload: Workload
  readonly ledger: Ledger
  readonly random: Random
  /** Intake URLs of all processes, including stopped ones. */
  readonly urls: ReadonlyArray<string>
  readonly carrierKeys: ReadonlyMap<string, string>
  readonly seconds: number
}

const writersPerTenant = 4
const eventsPerCall = 50

export class Publisher {
  calls = 0
  /** Calls that were retried because their outcome was unknown or they were temporarily refused. */
  repeated = 0
  stopped = false
  worstCallSeconds = 0
  private published = 0
  private readonly options: PublisherOptions
  private readonly clients = new Map<string, ReadonlyArray<IntakeClient>>()
  private readonly startedAt = Date.now()

  constructor(options: PublisherOptions) {
    this.options = options
    for (const [tenant, apiKey] of options.carrierKeys) {
      this.clients.set(tenant, options.urls.map((baseUrl) => new IntakeClient({ baseUrl, apiKey, timeoutMillis: 5_000, retry: false })))
    }
  }

  /** Each shipment has one writer, which waits for each response: this orders its events. */
  async run(): Promise<void> {
    const { workload } = this.options
    await Promise.all(workload.tenants.flatMap((tenant, at) =>
      Array.from({ length: writersPerTenant }, (_, writer) => {
        const shipments: Array<number> = []
        for (let shipment = at, own = 0; shipment < workload.shipments; shipment += workload.tenants.length, own++) {
          if (own % writersPerTenant === writer) shipments.push(shipment)
        }
        return this.write(tenant, shipments)
      })
    ))
  }

  private async write(tenant: string, shipments: ReadonlyArray<number>): Promise<void> {
    const { workload, random } = this.options
    const { eventsPerShipment } = workload.plan
    for (let number = 1; number <= eventsPerShipment;) {
      // Sometimes several events of a shipment in one call.
      const together = Math.min(1 + Math.floor(random() * 2.3), eventsPerShipment - number + 1)
      const perCall = Math.max(1, Math.floor(eventsPerCall / together))
      for (let from = 0; from < shipments.length; from += perCall) {
        const places = shipments.slice(from, from + perCall).flatMap((shipment) =>
          Array.from({ length: together }, (_, after) => ({ shipment, number: number + after })))
        await this.inTime(places.length)
        if (this.stopped) return
        await this.publish(tenant, places)
      }
      number += together
    }
  }

  private async inTime(events: number): Promise<void> {
    const { workload, seconds } = this.options
    this.published += events
    const due = this.startedAt + (this.published / workload.plan.events) * seconds * 1000
    while (Date.now() < due && !this.stopped) await pause(Math.max(1, Math.min(250, due - Date.now())))
  }

  private async publish(tenant: string, places: ReadonlyArray<EventPlace>): Promise<void> {
    const { workload, ledger, random } = this.options
    const clients = this.clients.get(tenant)!
    const events = places.map((place) => workload.reported(place))
    const began = Date.now()
    for (let at = Math.floor(random() * clients.length); !this.stopped; at++) {
      this.calls += 1
      try {
        const { results } = await clients[at % clients.length]!.publishTransitEvents(events)
        for (const result of results) {
          if (result.result === "error") ledger.violated("no event is refused", `${workload.eventId(places[result.index]!)}: ${JSON.stringify(result.errors)}`)
          else ledger.acknowledge(places[result.index]!, result.sequence)
        }
        this.worstCallSeconds = Math.max(this.worstCallSeconds, (Date.now() - began) / 1000)
        return
      } catch (error) {
        this.repeated += 1
        const status = (error as { readonly status?: number }).status
        if (status !== undefined && status !== 429 && status < 500) {
          ledger.violated("no event is refused", `${workload.eventId(places[0]!)}: ${(error as Error).message}`)
          return
        }
        if (status === 500) ledger.violated("storage failures are answered with 503, not 500", `${workload.eventId(places[0]!)}: ${(error as Error).message}`)
        await pause(50 + random() * 200)
      }
    }
  }
}
