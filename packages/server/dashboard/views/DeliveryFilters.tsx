/** Filters of a list of deliveries that operators and customers have. */
import { deliveryStates, deliveryWords } from "../model/words.ts"
import { Choice } from "../parts/Fields.tsx"
import { Shown } from "../parts/Shown.tsx"

interface StateChoiceProps {
  readonly state: string | undefined
  readonly change: (state: string | undefined) => void
}

export const StateChoice = ({ change, state }: StateChoiceProps) => (
  <Choice label="State" value={state} all="every state" choices={deliveryStates.map((state) => [state, deliveryWords[state]!])} change={change} />
)

interface OfSubscriptionProps {
  readonly subscriptionId: string
  /** The address of the subscription. */
  readonly href: string
  /** The address of the list without this filter. */
  readonly allHref: string
}

export const OfSubscription = ({ allHref, href, subscriptionId }: OfSubscriptionProps) => (
  <p>
    Only <a href={href}>subscription <span class="id"><Shown text={subscriptionId} /></span></a>.{" "}
    <a href={allHref}>Show all subscriptions</a>
  </p>
)
