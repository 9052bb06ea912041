/** Table of deliveries, on their own page, a subscription's and a shipment's. */
import type { Delivery, JourneyDelivery } from "@waybill/client/operator"
import type { ComponentChildren } from "preact"
import { hashOf } from "../model/routes.ts"
import { durationText } from "../model/time.ts"
import { outcomeText } from "../model/words.ts"
import { NewRowsWaiting } from "../parts/Notes.tsx"
import { Shown } from "../parts/Shown.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { AreaTag, DeliveryTag } from "../parts/Tags.tsx"
import { When } from "../parts/When.tsx"
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
              ? [<SubscriptionLink tenantId={tenantId} delivery={delivery} />]
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
const SubscriptionLink = ({ delivery, tenantId }: { readonly tenantId: string; readonly delivery: Delivery | JourneyDelivery }) => (
  <>
    <a href={hashOf({ view: "subscription", tenantId, subscriptionId: delivery.subscriptionId })}><span class="id">…{delivery.subscriptionId.slice(-6)}</span></a>
    {"area" in delivery && <AreaTag area={delivery.area} />}
  </>
)

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
