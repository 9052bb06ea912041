/** Parses and checks the desk's decision, because hosts write the desk. */
import { Effect, Schema } from "effect"
import type { CarrierDetails } from "./model/PickupAnswer.ts"
import { given } from "./model/KeptText.ts"
import { isPickupNumber, isTestNumber } from "./model/PickupLookup.ts"
import type { PickupRequest } from "./model/PickupRequest.ts"
import type { PickupDecision } from "./PickupDesk.ts"
import { PickupDeskFailed } from "./PickupErrors.ts"

export interface Decided {
  readonly decision: PickupDecision["decision"]
  /** Only with `accept`, and only if the desk issued a number. */
  readonly number: string | undefined
  readonly carrier: CarrierDetails
  readonly messages: ReadonlyArray<string>
}

const optionalText = Schema.optionalKey(Schema.NullOr(Schema.UndefinedOr(Schema.String)))

const Decision = Schema.Struct({
  decision: Schema.Literals(["accept", "reject", "callUs"]),
  carrierPickupNumber: Schema.optionalKey(Schema.UndefinedOr(Schema.String)),
  messages: Schema.optionalKey(Schema.UndefinedOr(Schema.Array(Schema.String))),
  carrierName: optionalText,
  scac: optionalText,
  routing: optionalText,
  trailerNumber: optionalText
})

const decode = Schema.decodeUnknownEffect(Decision)

const invalidDecision = (sentence: string) => new PickupDeskFailed({ cause: new Error(sentence) })

export const defaultMessages = { accept: [], reject: ["The carrier cannot take this request."], callUs: ["Call the carrier about this request."] }

/** Refuses decisions that must not reach a shipper. SPEC-GAP-C14 */
export const readDecision = Effect.fnUntraced(function*(decision: PickupDecision, request: PickupRequest) {
  const read = yield* Effect.mapError(decode(decision), (cause) => new PickupDeskFailed({ cause }))
  const { carrierName, messages, routing, scac, trailerNumber } = read
  const number = read.decision === "accept" ? given(read.carrierPickupNumber) : undefined
  if (number !== undefined && !isPickupNumber(number)) {
    return yield* invalidDecision("The desk issued a pickup number that is not 1 to 100 printable characters without leading or trailing spaces.")
  }
  if (number !== undefined && isTestNumber(number)) return yield* invalidDecision(`The desk issued ${number}, but numbers of this form are reserved for tests.`)
  const decided: Decided = {
    decision: read.decision,
    number,
    carrier: {
      carrierName: carrierName ?? null,
      scac: scac ?? null,
      routing: routing ?? null,
      trailerNumber: trailerNumber ?? request.trailerNumber
    },
    messages: messages === undefined || messages.length === 0 ? defaultMessages[read.decision] : messages
  }
  return decided
})

/** The decision for a test pickup: accepted, but no driver is sent. SPEC-GAP-C14 */
export const decidedTest = (request: PickupRequest): Decided => ({
  decision: "accept",
  number: undefined,
  carrier: { carrierName: null, scac: null, routing: null, trailerNumber: request.trailerNumber },
  messages: ["This is a test. No driver is sent."]
})
