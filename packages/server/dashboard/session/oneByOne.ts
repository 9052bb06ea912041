/** Sends one call for each of several deliveries. */
import type { Delivery } from "@waybill/client/operator"
import { isKeyRefused, sentenceOf } from "./Server.ts"

export type ChosenDelivery = Pick<Delivery, "deliveryId" | "state">

/** Continues after a refusal. Returns a sentence for each refused delivery; one delivery alone, or a refused key, fails. */
export const oneByOne = async (chosen: ReadonlyArray<ChosenDelivery>, call: (deliveryId: string) => Promise<void>, done: () => void): Promise<ReadonlyArray<string>> => {
  const failures: Array<string> = []
  for (const { deliveryId } of chosen) {
    try {
      await call(deliveryId)
    } catch (failure) {
      if (isKeyRefused(failure) || chosen.length === 1) throw failure
      failures.push(sentenceOf(failure))
    }
    done()
  }
  return failures
}
