/** What people know a subscription by: where it sends, whose it is and its area; its id last. */
import type { OperatorSubscription } from "@waybill/client/operator"
import { hostOf } from "../model/words.ts"
import { Shown } from "./Shown.tsx"
import { AreaTag } from "./Tags.tsx"

export const SubscriptionName = ({ href, subscription: { area, client, endpointUrl, subscriptionId } }: {
  readonly href: string
  readonly subscription: Pick<OperatorSubscription, "area" | "client" | "endpointUrl" | "subscriptionId">
}) => (
  <>
    <a href={href}><Shown text={hostOf(endpointUrl)} /></a>
    <small class="signs"><Shown text={client} /> <span class="id">…{subscriptionId.slice(-6)}</span></small>
    <AreaTag area={area} />
  </>
)
