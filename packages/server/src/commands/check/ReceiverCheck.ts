/** Checks a receiver: runs the requirements one by one. */
import type { CheckResult } from "@waybill/conformance"
import { WebhookSecretUnusable } from "@waybill/client"
import { Effect } from "effect"
import { messageOf } from "../../ErrorMessage.ts"
import { CommandFailed, exitCodes, failed, usageError } from "../shared/Outcome.ts"
import { printable } from "../../Printable.ts"
import { Receiver, type ReceiverOptions } from "./Receiver.ts"
import { type Requirement, requirements } from "./Requirements.ts"
import type { DeliveryKind } from "./SampleDeliveries.ts"

export const requirementsFor = (kind: DeliveryKind): ReadonlyArray<Requirement> => requirements.filter(({ kinds }) => kinds === undefined || kinds.includes(kind))

const resultOf = ({ find, id, sentence }: Requirement, receiver: Receiver) =>
  Effect.tryPromise({
    try: async () => {
      const { answers, detail, met } = await find(receiver)
      const millis = answers.reduce((sum, answer) => sum + answer.millis, 0)
      const result: CheckResult = { id, sentence, status: met ? "passed" : "failed", detail: printable(detail), millis }
      return { result, failure: answers.every(({ status }) => status === undefined) ? answers[0]?.failure : undefined }
    },
    catch: (error) => error instanceof WebhookSecretUnusable ? usageError(error.message) : failed(messageOf(error))
  })

/** Fails when the receiver does not respond at all. */
export const checkReceiver = Effect.fnUntraced(function*(options: ReceiverOptions, chosen: ReadonlyArray<Requirement>, onResult: (result: CheckResult) => void) {
  const receiver = new Receiver(options)
  const results: Array<CheckResult> = []
  for (const requirement of chosen) {
    const { result, failure } = yield* resultOf(requirement, receiver)
    if (results.length === 0 && failure !== undefined) {
      return yield* new CommandFailed({ message: `No response from ${options.url}: ${failure}. Start the receiver, or correct the address.`, code: exitCodes.unreachable })
    }
    results.push(result)
    onResult(result)
  }
  return results
})
