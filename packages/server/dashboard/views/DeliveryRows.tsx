/** Table of deliveries, on every page that lists some. */
import type { Delivery } from "@waybill/client/operator"
import type { ComponentChildren } from "preact"
import { durationText } from "../model/time.ts"
import { attemptText } from "../model/words.ts"
import { NewRowsWaiting } from "../parts/Notes.tsx"
import { Shown } from "../parts/Shown.tsx"
import { type Column, Table } from "../parts/Table.tsx"
import { DeliveryTag } from "../parts/Tags.tsx"
import { When } from "../parts/When.tsx"
import { useSteady } from "../session/useSteady.ts"

interface DeliveryRowsProps {
  readonly caption: string
  readonly deliveries: ReadonlyArray<Delivery>
  /** Another value starts a new order. */
  readonly question: string
  /** The address of a delivery's own view. */
  readonly hrefOf: (deliveryId: string) => string
  /** The column with the subscription of each row, if it is shown. */
  readonly subscription?: ((delivery: Delivery) => ComponentChildren) | undefined
  /** First column, such as a checkbox. */
  readonly select?: (delivery: Delivery) => ComponentChildren
  /** Last column, such as a button. */
  readonly action?: (delivery: Delivery) => ComponentChildren
}

export const DeliveryRows = ({ action, caption, deliveries, hrefOf, question, select, subscription }: DeliveryRowsProps) => {
  const { newRowsWaiting, list, rows } = useSteady<Delivery>(question, deliveries, ({ deliveryId }) => deliveryId)
  const columns: ReadonlyArray<Column> = [
    ...select === undefined ? [] : [{ name: "Select", bare: true }],
    { name: "Delivery" },
    { name: "State" },
    ...subscription === undefined ? [] : [{ name: "Subscription" }],
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
            <a href={hrefOf(delivery.deliveryId)}>
              <When at={delivery.createdAt} /> <span class="id">…{delivery.deliveryId.slice(-6)}</span>
            </a>,
            <State delivery={delivery} />,
            ...subscription === undefined ? [] : [subscription(delivery)],
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

const State = ({ delivery: { nextAttemptAt, state } }: { readonly delivery: Delivery }) => (
  <>
    <DeliveryTag state={state} />
    {nextAttemptAt !== null && <small class="signs">due <When brief at={nextAttemptAt} /></small>}
  </>
)

const LastAttempt = ({ delivery: { attempts } }: { readonly delivery: Delivery }) => {
  const last = attempts.at(-1)
  if (last === undefined) return <>–</>
  return (
    <>
      <Shown text={attemptText(last)} />{" "}
      <small>{durationText(last.durationMillis)}, <When brief at={last.at} /></small>
    </>
  )
}
