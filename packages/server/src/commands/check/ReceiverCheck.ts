/** The checks of a receiver. */
import type { DeliveryKind } from "./SampleDeliveries.ts"
import { Receiver } from "./Receiver.ts"
import { requirements } from "./Requirements.ts"
import type { Check } from "./Verdict.ts"

interface Options {
  readonly url: string
  readonly secrets: ReadonlyArray<string>
  readonly timeoutMillis: number
  readonly kind: DeliveryKind
}

export const receiverChecks = (options: Options): ReadonlyArray<Check> => {
  const receiver = new Receiver(options)
  return requirements.filter(({ kinds }) => kinds === undefined || kinds.includes(options.kind)).map(({ find, id, sentence }) => ({
    id,
    sentence,
    find: async () => {
      const { answers, detail, met } = await find(receiver)
      return {
        met,
        detail,
        millis: answers.reduce((sum, { millis }) => sum + millis, 0),
        ...(answers.every(({ status }) => status === undefined)
          ? { unreachable: `No response from ${options.url}: ${answers[0]?.trouble}. Start the receiver, or correct the address.` }
          : {})
      }
    }
  }))
}
