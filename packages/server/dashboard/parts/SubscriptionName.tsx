/** What people know a subscription by: where it sends, whose it is and its area; its id last, or alone while nothing else is known. */
import { hostOf } from "../model/words.ts"
import { Shown } from "./Shown.tsx"
import { AreaTag } from "./Tags.tsx"

interface SubscriptionNameProps {
  readonly href: string
  readonly subscriptionId: string
  readonly area?: string | undefined
  readonly client?: string | undefined
  readonly endpointUrl?: string | undefined
}

export const SubscriptionName = ({ area, client, endpointUrl, href, subscriptionId }: SubscriptionNameProps) => {
  const id = <span class="id">…{subscriptionId.slice(-6)}</span>
  return (
    <>
      <a href={href}>{endpointUrl === undefined ? id : <Shown text={hostOf(endpointUrl)} />}</a>
      {endpointUrl !== undefined && <small class="signs">{client !== undefined && <Shown text={client} />} {id}</small>}
      {area !== undefined && <AreaTag area={area} />}
    </>
  )
}
