/** Where the carrier's own system hands in what happened. */
import { type CallOptions, Connection, type ConnectionOptions } from "../connection/Connection.ts"
import type { ProblemFault } from "../connection/WaybillProblem.ts"
import type { EventType, TransitEvent } from "../transit-events/TransitEvent.ts"

/** An event as the carrier's system reports it. `eventId` and `sequence` may be left to the service. */
export interface ReportedEvent extends Omit<TransitEvent, "eventId" | "sequence" | "type"> {
  /** Give your own where you have one: only then a repeated call is recognised as the same event. */
  readonly eventId?: string
  readonly sequence?: number
  readonly type: EventType
  /** Who may see the shipment. */
  readonly parties?: { readonly accounts: ReadonlyArray<string> }
}

/** What became of one event. `index` is its place in the call, from 0. */
export type EventPublication =
  | {
    readonly index: number
    /** `duplicate`: the same content was accepted before. */
    readonly result: "accepted" | "duplicate"
    readonly shipmentId: string
    /** Given, or assigned by the service. */
    readonly eventId: string
    readonly sequence: number
  }
  | { readonly index: number; readonly result: "error"; readonly errors: ReadonlyArray<ProblemFault> }

export interface IntakeReport {
  /** One for each event, in the order they were handed in. */
  readonly results: ReadonlyArray<EventPublication>
}

export interface PublishOptions extends CallOptions {
  /** Accept the good items and report the bad ones. Without it one bad item refuses the whole call. */
  readonly partial?: boolean | undefined
}

export interface IntakeClientOptions extends ConnectionOptions {
  /** Where intake lives below `baseUrl`. Default `/intake/v1`. */
  readonly basePath?: string | undefined
}

export class IntakeClient {
  readonly #connection: Connection

  constructor(options: IntakeClientOptions) {
    this.#connection = new Connection(options, options.basePath ?? "/intake/v1")
  }

  /**
   * Hands in up to 1,000 events in one transaction.
   *
   * Sent again after a lost answer only when every event has its own `eventId`, because then the second time changes
   * nothing. Without ids it is sent once, and a failure leaves open whether the events were taken.
   */
  async publishTransitEvents(events: ReadonlyArray<ReportedEvent>, options: PublishOptions = {}): Promise<IntakeReport> {
    const answer = await this.#connection.send({
      method: "POST",
      path: ["transit-events"],
      query: { partial: options.partial === true ? true : undefined },
      body: { events },
      repeatable: events.every((event) => event.eventId !== undefined)
    }, options)
    return answer.json as IntakeReport
  }
}
