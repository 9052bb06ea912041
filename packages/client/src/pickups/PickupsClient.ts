/** Client for pickups: order, update, cancel and track (area C). */
import { type Answer, callKinds, type CallOptions, Connection, type ConnectionOptions, idempotencyKey } from "../connection/Connection.ts"
import { WaybillCallFailed } from "../connection/WaybillProblem.ts"
import { checkOptions, type OptionKinds, optionKinds } from "../shared/CheckOptions.ts"
import { randomToken } from "../shared/RandomToken.ts"
import { isObject } from "../shared/ReceivedJson.ts"
import { pickupBody, type PickupOrder } from "./PickupRequest.ts"
import type { PickupAnswer, PickupAnswers, PickupVisibility } from "./PickupVisibility.ts"

/** Identifies one pickup. Case, blanks and hyphens of a PRO do not matter. */
export type PickupLookup = { readonly confirmationId: string } | { readonly proNumber: string }

/** Options of an order. */
export interface CreatePickupOptions extends CallOptions {
  /**
   * An order that is repeated with its key gets the first response and creates no second pickup. 1 to 200 printable
   * ASCII characters. Default: generated for the call; errors have it as `call.idempotencyKey`.
   */
  readonly idempotencyKey?: string | undefined
}

/** Options of a lookup. */
export interface PickupVisibilityOptions extends CallOptions {
  /** Search test pickups only. */
  readonly isTest?: boolean | undefined
}

const createKinds: OptionKinds<CreatePickupOptions> = { ...callKinds, idempotencyKey: optionKinds.text }
const visibilityKinds: OptionKinds<PickupVisibilityOptions> = { ...callKinds, isTest: optionKinds.boolean }

const pickups = ["v1", "pickups"]

/** Pickups (area C): order, change, cancel and track. Calls reject with `WaybillProblem` when the server refuses, and with `WaybillCallFailed` when there is no usable answer. */
export class PickupsClient {
  readonly #connection: Connection

  /** `basePath` is `/pickup` by default. */
  constructor(options: ConnectionOptions) {
    this.#connection = new Connection(options, "/pickup")
  }

  /**
   * Orders a pickup. Retried with its key after a lost response, so only one pickup is created. When it still fails,
   * repeat it with the same key: a new key could create a second pickup.
   */
  async create(order: PickupOrder, options: CreatePickupOptions = {}): Promise<PickupAnswers> {
    checkOptions("create", options, createKinds)
    const { idempotencyKey: given, ...rest } = options
    const headers = { [idempotencyKey]: keyText(given ?? randomToken()) }
    const body = pickupBody(order, null)
    return answersOf(await this.#connection.send({ method: "POST", path: pickups, headers, body, repeatable: true }, rest))
  }

  /**
   * Replaces the whole request. The previous one stays valid until the carrier accepts the new one, which may change
   * `carrierPickupNumber`. Never retried, because a retry could overwrite another client's later update.
   */
  async update(carrierPickupNumber: string, order: PickupOrder, options?: CallOptions): Promise<PickupAnswers> {
    const body = pickupBody(order, carrierPickupNumber)
    return answersOf(await this.#connection.send({ method: "PUT", path: [...pickups, carrierPickupNumber], body, repeatable: false }, options))
  }

  /** By its `carrierPickupNumber`, or by the id that `Call us` names. Possible until the driver has arrived. Can be repeated. */
  async cancel(pickupId: string, options?: CallOptions): Promise<void> {
    const path = [...pickups, pickupId]
    await this.#connection.send({ method: "DELETE", path, repeatable: true, findableAfterDelete: true }, options)
  }

  /** Current state of a pickup. Finds accepted pickups only. */
  async visibility(by: PickupLookup, options: PickupVisibilityOptions = {}): Promise<PickupVisibility> {
    checkOptions("visibility", options, visibilityKinds)
    const { isTest = false, ...rest } = options
    const named = "proNumber" in by
      ? { lookupValue: by.proNumber, lookupType: "PRO" }
      : { lookupValue: by.confirmationId, lookupType: "PickupConfirmationID" }
    const query = { ...named, requestType: "PickupStatus", isTest }
    const { call, json } = await this.#connection.send({ method: "GET", path: pickups, query, headers: asText, repeatable: true }, rest)
    if (isObject(json) && typeof json["status"] === "string") return json as unknown as PickupVisibility
    throw new WaybillCallFailed(call, "unreadable_answer", "the answer is not a pickup: it has no status.")
  }
}

/** Integers would lose leading zeros and letters. */
const asText = { "x-waybill-integers": "false" }

const answersOf = ({ call, json }: Answer): PickupAnswers => {
  if (Array.isArray(json) && json.length > 0 && json.every(isAnswer)) return json as unknown as PickupAnswers
  throw new WaybillCallFailed(call, "unreadable_answer", "the answer is not a list of pickup answers.")
}

const isAnswer = (value: unknown): value is PickupAnswer => isObject(value) && typeof value["pickupStatus"] === "string"

/** Other characters do not pass through HTTP headers unchanged. */
const keyText = (key: string): string => {
  if (/^(?! )[\x20-\x7e]{1,200}(?<! )$/.test(key)) return key
  throw new TypeError("idempotencyKey is 1 to 200 printable ASCII characters without leading or trailing spaces.")
}
