/** Everything that a publisher has to do, in the order in which it is looked at. */
import { deliveryRequirements } from "./DeliveryRequirements.ts"
import { eventListRequirements } from "./EventListRequirements.ts"
import { type Publisher, type PublisherRequirement, Unmet } from "./Publisher.ts"
import { subscriptionRequirements } from "./SubscriptionRequirements.ts"

/** The list of events comes last: by then there are some. */
export const publisherRequirements: ReadonlyArray<PublisherRequirement> = [...subscriptionRequirements, ...deliveryRequirements, ...eventListRequirements]

/** Looks at one, and leaves no subscription behind. */
export const findOf = async (publisher: Publisher, { find }: PublisherRequirement): Promise<{ readonly met: boolean; readonly detail: string }> => {
  try {
    return { met: true, detail: await find(publisher) }
  } catch (error) {
    if (error instanceof Unmet) return { met: false, detail: error.message }
    throw error
  } finally {
    await publisher.tidy()
  }
}
