/** All requirements for a publisher, in the order of the checks. */
import { deliveryRequirements } from "./DeliveryRequirements.ts"
import { eventListRequirements } from "./EventListRequirements.ts"
import { type Publisher, type PublisherRequirement, Unmet } from "./Publisher.ts"
import { subscriptionRequirements } from "./SubscriptionRequirements.ts"

/** The event list comes last, because the other checks publish events. */
export const publisherRequirements: ReadonlyArray<PublisherRequirement> = [...subscriptionRequirements, ...deliveryRequirements, ...eventListRequirements]

/** Runs one check and deletes its subscriptions. */
export const runCheck = async (publisher: Publisher, { find }: PublisherRequirement): Promise<{ readonly met: boolean; readonly detail: string }> => {
  try {
    return { met: true, detail: await find(publisher) }
  } catch (error) {
    if (error instanceof Unmet) return { met: false, detail: error.message }
    throw error
  } finally {
    await publisher.deleteSubscriptions()
  }
}
