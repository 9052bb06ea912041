/** Orders, changes, cancels and follows pickups (area C). */
import { type Answer, type CallOptions, Connection, type ConnectionOptions, idempotencyKey } from "../connection/Connection.ts"
import { WaybillCallFailed } from "../connection/WaybillProblem.ts"
import { isObject } from "../shared/ReceivedJson.ts"
import { pickupBody, type PickupOrder } from "./PickupRequest.ts"
import type { PickupAnswer, PickupAnswers, PickupVisibility } from "./PickupVisibility.ts"

/** How one pickup is named. In a PRO, case, blanks and hyphens do not matter. */
export type PickupLookup = { readonly confirmationId: string } | { readonly proNumber: string }

export interface CreatePickupOptions extends CallOptions {
  /**
   * The same order under the same key gets the same answer and no second truck; 1 to 200 printable ASCII characters. Left
   * out, one is made for the call; failures tell it as `call.idempotencyKey`.
   */
  readonly idempotencyKey?: string | undefined
}

export interface PickupVisibilityOptions extends CallOptions {
  /** Looks among tests, and only there. */
  readonly isTest?: boolean | undefined
}

export interface PickupsClientOptions extends ConnectionOptions {
  /** Where area C lives below `baseUrl`. Default `/pickup`. */
  readonly basePath?: string | undefined
}

const pickups = ["v1", "pickups"]

export class PickupsClient {
  readonly #connection: Connection

  constructor(options: PickupsClientOptions) {
    this.#connection = new Connection(options, options.basePath ?? "/pickup")
  }

  /**
   * Orders a pickup. A lost call is sent again under its key, so only one truck comes. When it fails for good, order again
   * with that key, never with a new one.
   */
  async create(order: PickupOrder, { idempotencyKey: given, ...options }: CreatePickupOptions = {}): Promise<PickupAnswers> {
    const headers = { [idempotencyKey]: keyText(given ?? newKey()) }
    const body = pickupBody(order, null)
    return answersOf(await this.#connection.send({ method: "POST", path: pickups, headers, body, repeatable: true }, options))
  }

  /**
   * The whole request anew. Until the carrier accepts it, what was agreed before stands; then `carrierPickupNumber` may be
   * another one. Never sent twice: somebody else's change may lie in between.
   */
  async update(carrierPickupNumber: string, order: PickupOrder, options?: CallOptions): Promise<PickupAnswers> {
    const body = pickupBody(order, carrierPickupNumber)
    return answersOf(await this.#connection.send({ method: "PUT", path: [...pickups, carrierPickupNumber], body, repeatable: false }, options))
  }

  /** Until the driver has arrived. Cancelling again succeeds as well. */
  async cancel(carrierPickupNumber: string, options?: CallOptions): Promise<void> {
    const path = [...pickups, carrierPickupNumber]
    await this.#connection.send({ method: "DELETE", path, repeatable: true, leavesTrace: true }, options)
  }

  /** Where it is; only pickups that were accepted can be seen. */
  async visibility(by: PickupLookup, { isTest = false, ...options }: PickupVisibilityOptions = {}): Promise<PickupVisibility> {
    const named = "proNumber" in by
      ? { lookupValue: by.proNumber, lookupType: "PRO" }
      : { lookupValue: by.confirmationId, lookupType: "PickupConfirmationID" }
    const query = { ...named, requestType: "PickupStatus", isTest }
    const { call, json } = await this.#connection.send({ method: "GET", path: pickups, query, repeatable: true }, options)
    if (isObject(json) && typeof json["status"] === "string") return json as unknown as PickupVisibility
    throw new WaybillCallFailed(call, "unreadable_answer", "the answer is not a pickup: it has no status.")
  }
}

const answersOf = ({ call, json }: Answer): PickupAnswers => {
  if (Array.isArray(json) && json.length > 0 && json.every(isAnswer)) return json as unknown as PickupAnswers
  throw new WaybillCallFailed(call, "unreadable_answer", "the answer is not a list of what the carrier says.")
}

const isAnswer = (value: unknown): value is PickupAnswer => isObject(value) && typeof value["pickupStatus"] === "string"

const newKey = (): string => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")

/** Headers hold no more than this unharmed. */
const keyText = (key: string): string => {
  if (/^(?! )[\x20-\x7e]{1,200}(?<! )$/.test(key)) return key
  throw new TypeError("idempotencyKey is 1 to 200 printable ASCII characters without outer blanks.")
}
