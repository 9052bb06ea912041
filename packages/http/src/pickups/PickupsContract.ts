/** Area C over HTTP: order, update, cancel and track pickups. */
import { PickupAnswer, PickupQuery, PickupRequest, PickupVisibility } from "@waybill/core"
import { Schema } from "effect"
import { type AnswerSpec, contract } from "../shared/Contract.ts"
import { PickupProblem, pickupProblem } from "./PickupProblem.ts"

const refused = (description: string): AnswerSpec => ({ description, schema: PickupProblem })

const refusals = { 401: refused("Credentials missing or invalid"), 403: refused("No business of the caller's") }
const notFound: AnswerSpec = { description: "No such pickup, or not visible to the caller" }

const deskFailed: AnswerSpec = {
  ...refused("The carrier's desk could not decide. Nothing was ordered."),
  headers: { "Retry-After": { description: "Seconds to wait.", schema: Schema.Int } }
}

const answered: AnswerSpec = {
  description: "The carrier's answer, one for the request. A carrierPickupNumber promises the truck.",
  schema: Schema.Array(PickupAnswer)
}

/** SPEC-GAP-C31: the interface defines no cancellation. This is DELETE on the published path, answered with 200 and no body. */
const cancelled: AnswerSpec = { description: "Cancelled" }

const pickupId = { pickupId: "The carrierPickupNumber it was accepted under." }

/** Room for far more than any real request; such bodies are read as a whole. */
const maxRequestBytes = 1024 * 1024

const parameter = (name: keyof typeof PickupQuery.fields, description: string) =>
  ({ kind: "text", schema: PickupQuery.fields[name], description, required: true }) as const

// Paths end with a slash as published; every path also works without one. SPEC-GAP-C32
export const PickupsContract = contract({
  area: "pickups",
  title: "Pickups",
  description: "Orders a pickup, changes it, cancels it and tells where it is. Tests are answered like orders; nobody is sent.",
  shape: pickupProblem,
  endpoints: {
    createPickup: {
      method: "POST",
      path: "/v1/pickups/",
      access: "caller",
      summary: "Order a pickup",
      description: "The carrier accepts, rejects, or asks to be called.",
      headers: {
        "Idempotency-Key": {
          description: "1 to 200 printable characters. The same request under the same key gets the same answer, and no second truck.",
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
      summary: "See where a pickup is",
      description: "By its number, or by a PRO it carries. It only tells; also a requestType of Cancel cancels nothing.",
      query: {
        lookupValue: parameter("lookupValue", "The number to look up."),
        lookupType: parameter("lookupType", "What kind of number it is: PickupConfirmationID or PRO."),
        requestType: parameter("requestType", "PickupStatus, Status or Cancel; all tell the same."),
        isTest: parameter("isTest", "true looks among tests, false among real pickups.")
      },
      answers: { 200: { description: "The pickup", schema: PickupVisibility }, 400: refused("The parameters cannot be used"), ...refusals, 404: notFound }
    },
    updatePickup: {
      method: "PUT",
      path: "/v1/pickups/{pickupId}",
      access: "caller",
      summary: "Change a pickup",
      description: "The whole request anew, with requestFunction ModifyExisting and the number in path and body. Until the carrier accepts it, " +
        "what was agreed before stands.",
      params: pickupId,
      body: { schema: PickupRequest, maxBytes: maxRequestBytes },
      answers: { 200: answered, 400: refused("It cannot be used, or the pickup has gone too far"), ...refusals, 404: notFound, 503: deskFailed }
    },
    deletePickup: {
      method: "DELETE",
      path: "/v1/pickups/{pickupId}",
      access: "caller",
      summary: "Cancel a pickup",
      description: "Until the driver has arrived. Cancelling again succeeds as well.",
      params: pickupId,
      answers: { 200: cancelled, 400: refused("The pickup has gone too far"), ...refusals, 404: notFound, 503: deskFailed }
    }
  }
})
