/** Sends one call for each of several deliveries. */
import type { Delivery } from "@waybill/client/operator"
import { isKeyRefused, isUnreachable, sentenceOf } from "./Server.ts"

export type ChosenDelivery = Pick<Delivery, "deliveryId" | "state">

/**
 * Continues after a refusal, and stops when the key is refused or the server does not answer, because each of the others would wait for it as long. Returns
 * a sentence for each delivery without a result; one delivery alone, or a stop before anything is done, fails.
 */
export const oneByOne = async (chosen: ReadonlyArray<ChosenDelivery>, call: (deliveryId: string) => Promise<void>, done: () => void): Promise<ReadonlyArray<string>> => {
  const failures: Array<string> = []
  for (const [index, { deliveryId }] of chosen.entries()) {
    try {
      await call(deliveryId)
    } catch (failure) {
      const refused = isKeyRefused(failure)
      const stops = refused || isUnreachable(failure)
      if (chosen.length === 1 || stops && failures.length === index) throw failure
      const sentence = refused ? "The key was refused." : sentenceOf(failure)
      if (stops) return [...failures, ...chosen.slice(index).map(() => sentence)]
      failures.push(sentence)
    }
    done()
  }
  return failures
}
