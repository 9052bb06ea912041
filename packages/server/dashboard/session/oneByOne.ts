/** Sends one call for each of several deliveries. */
import type { Delivery } from "@waybill/client/operator"
import { isKeyRefused, sentenceOf } from "./Server.ts"

export type ChosenDelivery = Pick<Delivery, "deliveryId" | "state">

/** Continues after a refusal, and stops at a refused key. Returns a sentence for each delivery without a result; one delivery alone, or a key that is refused before anything is done, fails. */
export const oneByOne = async (chosen: ReadonlyArray<ChosenDelivery>, call: (deliveryId: string) => Promise<void>, done: () => void): Promise<ReadonlyArray<string>> => {
  const failures: Array<string> = []
  for (const [index, { deliveryId }] of chosen.entries()) {
    try {
      await call(deliveryId)
    } catch (failure) {
      const refused = isKeyRefused(failure)
      if (chosen.length === 1 || refused && failures.length === index) throw failure
      if (refused) return [...failures, ...chosen.slice(index).map(() => "The key was refused.")]
      failures.push(sentenceOf(failure))
    }
    done()
  }
  return failures
}
