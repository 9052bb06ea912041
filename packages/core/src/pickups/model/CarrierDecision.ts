/** The carrier's decision on a pickup that waits (intake). */
import { Schema } from "effect"
import { nullish } from "../../shared/Members.ts"
import { CarrierText, KeptText } from "./KeptText.ts"

/** 2 to 4 letters. */
const Scac = Schema.String.check(Schema.isPattern(/^[A-Za-z]{2,4}$/u, { message: "scac is the Standard Carrier Alpha Code: 2 to 4 letters." }))

/** A carrier's decision on a pickup that waits for one. */
export const CarrierDecision = Schema.Struct({
  decision: Schema.Literals(["accept", "reject", "call"]).annotate({ message: "decision is accept, reject or call." }),
  /** Only with `accept`: becomes the carrierPickupNumber. If left out, Waybill issues one. */
  confirmationNumber: nullish(KeptText),
  scac: nullish(Scac),
  carrierName: nullish(CarrierText),
  /** For the shipper. */
  message: nullish(CarrierText)
}).annotate({ identifier: "CarrierDecision" })
export type CarrierDecision = typeof CarrierDecision.Type
/** A decision as it is sent. */
export type CarrierDecisionInput = typeof CarrierDecision.Encoded

/** The text of the answer to the shipper. */
export const decisionWords = { accept: "accept", reject: "reject", call: "callUs" } as const
