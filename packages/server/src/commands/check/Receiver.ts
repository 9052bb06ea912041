/** The receiver under test: what is sent to it, and how it answers. */
import { signDelivery } from "@waybill/client"
import { randomUUID } from "node:crypto"
import { reasonOf } from "../shared/Remote.ts"

/** What came back: a status, or why there was none. */
export interface Answer {
  readonly status: number | undefined
  readonly millis: number
  /** Where there was no answer. */
  readonly trouble: string | undefined
}

export const isTaken = ({ status }: Answer): boolean => status !== undefined && status >= 200 && status < 300

/** A definite no, as opposed to a break-down that invites another attempt. */
export const isRefused = ({ status }: Answer): boolean => status !== undefined && status >= 400 && status < 500

export const answerText = ({ millis, status, trouble }: Answer): string => status === undefined ? `no answer (${trouble})` : `${status} in ${millis} ms`

export type Headers = Readonly<Record<string, string>>

export interface Parcel {
  readonly deliveryId: string
  readonly body: Uint8Array
}

/** One event of a shipment that nobody has. */
export interface MadeUpEvent {
  readonly shipmentId: string
  readonly sequence: number
}

const place = (name: string, city: string, state: string, postalCode: string) => ({ name, city, state, postalCode, country: "USA" })
const origin = place("Waybill check", "Chicago", "IL", "60608")
const destination = place("Waybill check", "Dallas", "TX", "75201")

export class Receiver {
  readonly #url: string
  readonly #secrets: ReadonlyArray<string>
  readonly #timeoutMillis: number
  /** Sets this run apart from all others, so that what a receiver remembers of them does not matter. */
  readonly #run = randomUUID().slice(0, 8)
  #shipments = 0

  constructor(options: { readonly url: string; readonly secrets: ReadonlyArray<string>; readonly timeoutMillis: number }) {
    this.#url = options.url
    this.#secrets = options.secrets
    this.#timeoutMillis = options.timeoutMillis
  }

  newShipment(): string {
    this.#shipments += 1
    return `WAYBILL-CHECK-${this.#run}-${this.#shipments}`
  }

  /** A batch under a new delivery id. */
  parcel(events: ReadonlyArray<MadeUpEvent>): Parcel {
    const deliveryId = randomUUID()
    const now = new Date().toISOString()
    const batch = {
      deliveryId,
      sentAt: now,
      events: events.map(({ sequence, shipmentId }) => ({
        eventId: `${shipmentId}-${sequence}`,
        type: "IN_TRANSIT",
        status: "Sent by waybill check",
        occurredAt: now,
        reportedAt: now,
        sequence,
        shipment: { shipmentId, mode: "LTL", references: [{ type: "PRO", value: `CHECK-${this.#run}` }], origin, destination }
      }))
    }
    return { deliveryId, body: new TextEncoder().encode(JSON.stringify(batch)) }
  }

  /** A batch of one event of a new shipment. */
  single(): Parcel {
    return this.parcel([{ shipmentId: this.newShipment(), sequence: 1 }])
  }

  async sign({ body, deliveryId }: Parcel, options: { readonly at?: Date; readonly secrets?: ReadonlyArray<string> } = {}): Promise<Headers> {
    return await signDelivery({ secrets: options.secrets ?? this.#secrets, deliveryId, body, now: options.at })
  }

  /** Signed now, as the service does it at each attempt. */
  async deliver(parcel: Parcel): Promise<Answer> {
    return this.post(parcel.body, await this.sign(parcel))
  }

  async post(body: Uint8Array, headers: Headers): Promise<Answer> {
    const begun = performance.now()
    const millis = () => Math.round(performance.now() - begun)
    try {
      const response = await fetch(this.#url, {
        method: "POST",
        headers: { "content-type": "application/json", "user-agent": "waybill-check", ...headers },
        body: body as Uint8Array<ArrayBuffer>,
        redirect: "manual",
        signal: AbortSignal.timeout(this.#timeoutMillis)
      })
      await response.arrayBuffer()
      return { status: response.status, millis: millis(), trouble: undefined }
    } catch (error) {
      const isLate = error instanceof Error && error.name === "TimeoutError"
      const trouble = isLate ? `none within ${this.#timeoutMillis / 1000} s` : `no connection${error instanceof Error ? reasonOf(error) : ""}`
      return { status: undefined, millis: millis(), trouble }
    }
  }
}
