/** The receiver under test: sends deliveries to it and records its responses. */
import { signDelivery } from "@waybill/client"
import { reasonOf } from "@waybill/conformance"
import { randomUUID } from "node:crypto"
import { bodyOf, type DeliveryKind, grown, type MadeUpEvent, testEventOf } from "./SampleDeliveries.ts"

/** The response: a status, or why there was none. */
export interface Answer {
  readonly status: number | undefined
  readonly millis: number
  /** Set when there was no response. */
  readonly failure: string | undefined
}

export const isTaken = ({ status }: Answer): boolean => status !== undefined && status >= 200 && status < 300

/** A definite refusal, as opposed to a failure that asks for a retry. */
export const isRefused = ({ status }: Answer): boolean => status !== undefined && status >= 400 && status < 500

export const answerText = ({ millis, status, failure }: Answer): string => status === undefined ? `no answer (${failure})` : `${status} in ${millis} ms`

export type Headers = Readonly<Record<string, string>>

export interface SampleDelivery {
  readonly deliveryId: string
  readonly body: Uint8Array
}

const sampleOf = (deliveryId: string, body: unknown): SampleDelivery => ({ deliveryId, body: new TextEncoder().encode(JSON.stringify(body)) })

export interface ReceiverOptions {
  readonly url: string
  readonly secrets: ReadonlyArray<string>
  readonly timeoutMillis: number
  readonly kind: DeliveryKind
}

export class Receiver {
  readonly #options: ReceiverOptions
  /** Makes the ids of this run unique, so that ids the receiver remembers from earlier runs have no effect. */
  readonly #run = randomUUID().slice(0, 8)
  #shipments = 0

  constructor(options: ReceiverOptions) {
    this.#options = options
  }

  newShipment(): string {
    this.#shipments += 1
    return `WAYBILL-CHECK-${this.#run}-${this.#shipments}`
  }

  /** A delivery with a new id; contains at most one status notification. */
  deliveryOf(events: ReadonlyArray<MadeUpEvent>): SampleDelivery {
    const deliveryId = randomUUID()
    return sampleOf(deliveryId, bodyOf[this.#options.kind]({ deliveryId, run: this.#run, now: new Date().toISOString(), events }))
  }

  /** What a customer sends from the portal to test the receiver. */
  testEvent(): SampleDelivery {
    return sampleOf(randomUUID(), testEventOf(this.#run, new Date().toISOString()))
  }

  /** The same delivery with members that a later version of the interface might add. */
  grown({ body, deliveryId }: SampleDelivery): SampleDelivery {
    return sampleOf(deliveryId, grown[this.#options.kind](JSON.parse(new TextDecoder().decode(body))))
  }

  /** A delivery with one event of a new shipment. */
  single(): SampleDelivery {
    return this.deliveryOf([{ shipmentId: this.newShipment(), sequence: 1 }])
  }

  async sign({ body, deliveryId }: SampleDelivery, options: { readonly at?: Date; readonly secrets?: ReadonlyArray<string> } = {}): Promise<Headers> {
    return (await signDelivery({ secrets: options.secrets ?? this.#options.secrets, deliveryId, body, now: options.at })).headers
  }

  /** Signs at each attempt, as the service does. */
  async deliver(delivery: SampleDelivery): Promise<Answer> {
    return this.post(delivery.body, await this.sign(delivery))
  }

  async post(body: Uint8Array, headers: Headers): Promise<Answer> {
    const { timeoutMillis, url } = this.#options
    const begun = performance.now()
    const millis = () => Math.round(performance.now() - begun)
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", "user-agent": "waybill-check", ...headers },
        body: body as Uint8Array<ArrayBuffer>,
        redirect: "manual",
        signal: AbortSignal.timeout(timeoutMillis)
      })
      await response.arrayBuffer()
      return { status: response.status, millis: millis(), failure: undefined }
    } catch (error) {
      const isLate = error instanceof Error && error.name === "TimeoutError"
      const failure = isLate ? `none within ${timeoutMillis / 1000} s` : `no connection${error instanceof Error ? reasonOf(error) : ""}`
      return { status: undefined, millis: millis(), failure }
    }
  }
}
