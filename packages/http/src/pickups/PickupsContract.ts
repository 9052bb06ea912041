/** Area C over HTTP: order, update, cancel and track pickups. */
import {
  lookupTypes,
  PickupAnswer,
  PickupQuery,
  PickupRequest,
  PickupVisibility,
  PickupVisibilityWithIntegers,
  testFlags
} from "@waybill/core/pickups"
import { Schema } from "effect"
import { type AnswerSpec, contract } from "../shared/Contract.ts"
import { messageProblem } from "../shared/MessageProblem.ts"

const notFound = "No such pickup, or not visible to the caller."
const arrived = "The driver has already arrived, or the request is invalid."
const quotaUsedUp = "The quota pickupBytesPerClient is used up. Nothing was ordered or changed."
const deskFailed = "The carrier's dispatch could not decide. Nothing was ordered or changed."

const answered: AnswerSpec = {
  description: "The carrier's decision, a list of one. A carrierPickupNumber confirms the pickup.",
  schema: Schema.Array(PickupAnswer)
}

/** SPEC-GAP-C31: the interface defines no cancellation. This is DELETE on the published path, answered with 200 and no body. */
const cancelled: AnswerSpec = { description: "Cancelled" }


/** Far larger than any real request. The limit is needed because these bodies are read into memory as a whole. */
const maxRequestBytes = 1024 * 1024

const parameter = <S extends Schema.Top>(schema: S, description: string) => ({ kind: "text", schema, description, required: true }) as const

// Paths end with a slash as published; every path also works without one. SPEC-GAP-C32
export const PickupsContract = contract({
  area: "pickups",
  title: "Pickups",
  description: "Orders, changes, cancels and tracks pickups. Test pickups get the same responses, but no driver is sent.",
  // published for two of the calls, and used for all. SPEC-GAP-C30
  shape: { ...messageProblem("PickupProblem"), bodiless: [404] },
  access: "caller",
  params: { pickupId: { description: "The carrierPickupNumber of the accepted pickup.", missing: notFound } },
  endpoints: {
    createPickup: {
      route: "POST /v1/pickups/",
      summary: "Order a pickup",
      description: "The carrier accepts, rejects, or asks for a call.",
      headers: {
        "Idempotency-Key": {
          description: "1 to 200 printable characters. The same request with the same key gets the same response and orders no second truck.",
          schema: Schema.String.check(Schema.isBetweenLength(1, 200))
        }
      },
      body: { schema: PickupRequest, maxBytes: maxRequestBytes },
      answers: { 200: answered },
      refusals: { 409: quotaUsedUp, 503: deskFailed }
    },
    getPickup: {
      route: "GET /v1/pickups/",
      summary: "Get the status of a pickup",
      description: "By its number, or by a PRO of one of its shipments. Read-only: a requestType of Cancel cancels nothing.",
      query: {
        lookupValue: parameter(PickupQuery.fields.lookupValue, "The number to look up."),
        lookupType: parameter(Schema.Literals(lookupTypes), "The kind of number. Upper and lower case are the same."),
        requestType: parameter(PickupQuery.fields.requestType, "Such as PickupStatus or Status; has no effect."),
        isTest: parameter(Schema.Literals(testFlags), "true for test pickups, false for real ones. Upper and lower case are the same.")
      },
      headers: {
        "X-Waybill-Integers": {
          description: "`false`, in upper or lower case: pickupConfirmationId, code, subCode, proNumber and destinationPostalCode are text as the carrier has it. " +
            "Default: integers, without leading zeros and hyphens, and null where a letter or the length allows no integer.",
          schema: Schema.Literals(["true", "false"])
        }
      },
      answers: { 200: { description: "The pickup", schema: Schema.Union([PickupVisibilityWithIntegers, PickupVisibility]).annotate({ identifier: "PickupLookupResult" }) } },
      refusals: { 404: notFound }
    },
    updatePickup: {
      route: "PUT /v1/pickups/{pickupId}",
      summary: "Change a pickup",
      description: "The complete request, with requestFunction ModifyExisting and the number in path and body. Until the carrier accepts it, " +
        "the previous agreement is valid.",
      body: { schema: PickupRequest, maxBytes: maxRequestBytes },
      answers: { 200: answered },
      refusals: { 400: arrived, 409: quotaUsedUp, 503: deskFailed }
    },
    deletePickup: {
      route: "DELETE /v1/pickups/{pickupId}",
      summary: "Cancel a pickup",
      description: "Until the driver has arrived. Cancelling again succeeds as well. A request that was answered Call us is cancelled by the id in its pickupMessage.",
      answers: { 200: cancelled },
      refusals: { 400: arrived, 503: deskFailed }
    }
  }
})
