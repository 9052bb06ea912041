/** Table of deliveries, on their own page, a subscription's and a shipment's. */
import type { Delivery, JourneyDelivery, OperatorSubscription } from "@waybill/client/operator"
import type { ComponentChildren } from "preact"
import { hashOf } from "../model/routes.ts"
import { durationText } from "../model/time.ts"
import { outcomeText } from "../model/words.ts"
import { NewRowsWaiting } from "../parts/Notes.tsx"
import { Shown } from "../parts/Shown.tsx"
import { SubscriptionName } from "../parts/SubscriptionName.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { AreaTag, DeliveryTag } from "../parts/Tags.tsx"
import { When } from "../parts/When.tsx"
import { usePolled } from "../session/usePolled.ts"
import { useSteady } from "../session/useSteady.ts"

interface DeliveryRowsProps {
  readonly tenantId: string
  readonly caption: string
  readonly deliveries: ReadonlyArray<Delivery>
  /** Another value starts a new order. */
  readonly question: string
  /** Whether to show the subscription of each row. */
  readonly subscriptions?: boolean
  /** First column, such as a checkbox. */
  readonly select?: (delivery: Delivery) => ComponentChildren
  /** Last column, such as a button. */
  readonly action?: (delivery: Delivery) => ComponentChildren
}

export const DeliveryRows = ({ action, caption, deliveries, subscriptions = false, question, select, tenantId }: DeliveryRowsProps) => {
  const { newRowsWaiting, list, rows } = useSteady<Delivery>(question, deliveries, ({ deliveryId }) => deliveryId)
  const names = useNames(subscriptions ? tenantId : undefined)
  const columns: ReadonlyArray<Column> = [
    ...select === undefined ? [] : [{ name: "Select", bare: true }],
    { name: "Delivery" },
    { name: "State" },
    ...subscriptions ? [{ name: "Subscription" }] : [],
    { name: "Events", number: true },
    { name: "Attempts", number: true },
    { name: "Last attempt" },
    ...action === undefined ? [] : [{ name: "Action", bare: true }]
  ]
  return (
    <>
      <Table
        caption={caption}
        columns={columns}
        header={select === undefined ? 0 : 1}
        list={list}
        rows={rows.map((delivery) => ({
          id: delivery.deliveryId,
          cells: [
            ...select === undefined ? [] : [select(delivery)],
            <a href={hashOf({ view: "delivery", tenantId, deliveryId: delivery.deliveryId })}>
              <When at={delivery.createdAt} /> <span class="id">…{delivery.deliveryId.slice(-6)}</span>
            </a>,
            <State delivery={delivery} />,
            ...subscriptions
              ? [<SubscriptionLink tenantId={tenantId} delivery={delivery} names={names} />]
              : [],
            delivery.events,
            delivery.attempts.length,
            <LastAttempt delivery={delivery} />,
            ...action === undefined ? [] : [action(delivery)]
          ]
        }))}
      />
      <NewRowsWaiting count={newRowsWaiting} />
    </>
  )
}

/** Deliveries of a shipment also show their area. */
const SubscriptionLink = ({ delivery, names, tenantId }: { readonly tenantId: string; readonly delivery: Delivery | JourneyDelivery; readonly names: Names }) => {
  const href = hashOf({ view: "subscription", tenantId, subscriptionId: delivery.subscriptionId })
  const known = names.get(delivery.subscriptionId)
  if (known !== undefined) return <SubscriptionName href={href} subscription={known} />
  return (
    <>
      <a href={href}><span class="id">…{delivery.subscriptionId.slice(-6)}</span></a>
      {"area" in delivery && <AreaTag area={delivery.area} />}
    </>
  )
}

type Names = ReadonlyMap<string, OperatorSubscription>

/** So many subscriptions of a tenant are shown by their endpoint, others by their id. */
const namedSubscriptions = 200

const useNames = (tenantId: string | undefined): Names => {
  const { data } = usePolled(tenantId === undefined ? undefined : `names ${tenantId}`, (client, signal) => client.listSubscriptions(tenantId!, { limit: namedSubscriptions }, { signal }), 30_000)
  return new Map(data?.data.map((subscription) => [subscription.subscriptionId, subscription]))
}

const State = ({ delivery: { nextAttemptAt, state } }: { readonly delivery: Delivery }) => (
  <>
    <DeliveryTag state={state} />
    {nextAttemptAt !== null && <small class="signs">next <When brief at={nextAttemptAt} /></small>}
  </>
)

const LastAttempt = ({ delivery: { attempts } }: { readonly delivery: Delivery }) => {
  const last = attempts.at(-1)
  if (last === undefined) return <>–</>
  return (
    <>
      <Shown text={outcomeText(last.outcome)} />{last.status !== null && ` (${last.status})`}{" "}
      <small>{durationText(last.durationMillis)}, <When brief at={last.at} /></small>
    </>
  )
}
