/** Area C over HTTP: order, update, cancel and track pickups. */
import { PickupAnswer, PickupQuery, PickupRequest, PickupVisibility } from "@waybill/core"
import { Schema } from "effect"
import { type AnswerSpec, contract } from "../shared/Contract.ts"
import { PickupProblem, pickupProblem } from "./PickupProblem.ts"

const refused = (description: string): AnswerSpec => ({ description, schema: PickupProblem })

const refusals = { 401: refused("Credentials missing or invalid"), 403: refused("The caller has no access, or not this role") }
const notFound: AnswerSpec = { description: "No such pickup, or not visible to the caller" }

const deskFailed: AnswerSpec = {
  ...refused("The carrier's dispatch could not decide. Nothing was ordered."),
  headers: { "Retry-After": { description: "Seconds to wait.", schema: Schema.Int } }
}

const answered: AnswerSpec = {
  description: "The carrier's decision, a list of one. A carrierPickupNumber confirms the pickup.",
  schema: Schema.Array(PickupAnswer)
}

/** SPEC-GAP-C31: the interface defines no cancellation. This is DELETE on the published path, answered with 200 and no body. */
const cancelled: AnswerSpec = { description: "Cancelled" }

const pickupId = { pickupId: "The carrierPickupNumber of the accepted pickup." }

/** Far larger than any real request. The limit is needed because these bodies are read into memory as a whole. */
const maxRequestBytes = 1024 * 1024

const parameter = (name: keyof typeof PickupQuery.fields, description: string) =>
  ({ kind: "text", schema: PickupQuery.fields[name], description, required: true }) as const

// Paths end with a slash as published; every path also works without one. SPEC-GAP-C32
export const PickupsContract = contract({
  area: "pickups",
  title: "Pickups",
  description: "Orders, changes, cancels and tracks pickups. Test pickups get the same responses, but no driver is sent.",
  shape: pickupProblem,
  endpoints: {
    createPickup: {
      method: "POST",
      path: "/v1/pickups/",
      access: "caller",
      summary: "Order a pickup",
      description: "The carrier accepts, rejects, or asks for a call.",
      headers: {
        "Idempotency-Key": {
          description: "1 to 200 printable characters. The same request with the same key gets the same response and orders no second truck.",
          schema: Schema.String.check(Schema.isBetweenLength(1, 200))
        }
      },
      body: { schema: PickupRequest, maxBytes: maxRequestBytes },
      answers: { 200: answered, 400: refused("Invalid input"), ...refusals, 503: deskFailed }
    },
    getPickup: {
      method: "GET",
      path: "/v1/pickups/",
      access: "caller",
      summary: "Get the status of a pickup",
      description: "By its number, or by a PRO of one of its shipments. Read-only: a requestType of Cancel cancels nothing.",
      query: {
        lookupValue: parameter("lookupValue", "The number to look up."),
        lookupType: parameter("lookupType", "The kind of number: PickupConfirmationID or PRO."),
        requestType: parameter("requestType", "Such as PickupStatus or Status; has no effect."),
        isTest: parameter("isTest", "true for test pickups, false for real ones.")
      },
      headers: {
        "X-Waybill-Integers": {
          description: "`true`: pickupConfirmationId, code, subCode, proNumber and destinationPostalCode are integers instead of text, null where no integer stands for the text.",
          schema: Schema.Literals(["true", "false"])
        }
      },
      answers: { 200: { description: "The pickup", schema: PickupVisibility }, 400: refused("Invalid parameters"), ...refusals, 404: notFound }
    },
    updatePickup: {
      method: "PUT",
      path: "/v1/pickups/{pickupId}",
      access: "caller",
      summary: "Change a pickup",
      description: "The complete request, with requestFunction ModifyExisting and the number in path and body. Until the carrier accepts it, " +
        "the previous agreement is valid.",
      params: pickupId,
      body: { schema: PickupRequest, maxBytes: maxRequestBytes },
      answers: { 200: answered, 400: refused("Invalid input, or the driver has already arrived"), ...refusals, 404: notFound, 503: deskFailed }
    },
    deletePickup: {
      method: "DELETE",
      path: "/v1/pickups/{pickupId}",
      access: "caller",
      summary: "Cancel a pickup",
      description: "Until the driver has arrived. Cancelling again succeeds as well.",
      params: pickupId,
      answers: { 200: cancelled, 400: refused("The driver has already arrived"), ...refusals, 404: notFound, 503: deskFailed }
    }
  }
})
