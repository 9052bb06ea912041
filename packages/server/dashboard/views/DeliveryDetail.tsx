/** One delivery: its state, every attempt and its exact body. */
import type { Delivery, DeliveryAttempt } from "@waybill/client/operator"
import { useEffect, useRef, useState } from "preact/hooks"
import { durationText } from "../model/time.ts"
import { deliveryWords, outcomeText, plural } from "../model/words.ts"
import { ActionResult, Answered, Empty } from "../parts/Notes.tsx"
import { Shown, ShownBlock } from "../parts/Shown.tsx"
import { Facts } from "../parts/Table.tsx"
import { DeliveryTag, Tag } from "../parts/Tags.tsx"
import { When } from "../parts/When.tsx"
import { useAppState } from "../session/Context.ts"
import type { Polled } from "../session/usePolled.ts"
import { isRetryable, RetryDialog } from "./RetryDialog.tsx"
import { SentBytes } from "./SentBytes.tsx"

interface DetailedDelivery extends Delivery {
  readonly endpointUrl: string
  /** `null` while it is not shown. */
  readonly body: string | null
}

interface DeliveryDetailProps {
  readonly deliveryId: string
  readonly polled: Polled<DetailedDelivery>
  readonly subscriptionHref: (subscriptionId: string) => string
  readonly retry: (deliveryId: string) => Promise<void>
}

export const DeliveryDetail = ({ deliveryId, polled, retry, subscriptionHref }: DeliveryDetailProps) => {
  const { announce } = useAppState()
  const [asked, setAsked] = useState(false)
  const [result, setResult] = useState<string>()
  const state = polled.data?.state
  const before = useRef(state)
  useEffect(() => {
    if (before.current !== undefined && state !== undefined && before.current !== state) announce(`The delivery is now: ${deliveryWords[state] ?? state}.`)
    before.current = state
  }, [state])
  return (
    <>
      <h1 tabIndex={-1}>Delivery <span class="id"><Shown text={deliveryId} /></span></h1>
      <ActionResult result={result} />
      <Answered of={polled} missing="Delivery not found. Settled deliveries are removed after the retention time.">
        {(delivery) => (
          <>
            <DeliveryFacts delivery={delivery} subscriptionHref={subscriptionHref} />
            <div class="actions">
              <button type="button" class={delivery.state === "dead" ? undefined : "secondary"} disabled={!isRetryable(delivery)} onClick={() => setAsked(true)}>Retry …</button>
            </div>
            <Attempts attempts={delivery.attempts} />
            {delivery.body === null ? <NoBody /> : <SentBytes id={delivery.deliveryId} body={delivery.body} />}
            {asked && (
              <RetryDialog
                retry={retry}
                deliveries={[delivery]}
                close={(result) => {
                  setAsked(false)
                  if (result === undefined) return
                  setResult(result)
                  announce(result)
                  polled.refresh()
                }}
              />
            )}
          </>
        )}
      </Answered>
    </>
  )
}

/** Access is checked when a delivery is sent, so its body is shown after the first attempt. */
const NoBody = () => (
  <section aria-labelledby="body">
    <h2 id="body">Exact body</h2>
    <Empty>Shown after the first attempt.</Empty>
  </section>
)

const DeliveryFacts = ({ delivery, subscriptionHref }: { readonly delivery: DetailedDelivery; readonly subscriptionHref: (subscriptionId: string) => string }) => (
  <Facts
    facts={[
      ["State", <DeliveryTag state={delivery.state} />],
      ...delivery.reason === null ? [] : [["Reason", <Shown text={delivery.reason} />] as const],
      ...delivery.nextAttemptAt === null ? [] : [["Next attempt", <When at={delivery.nextAttemptAt} />] as const],
      ["Created", <When at={delivery.createdAt} />],
      ...delivery.settledAt === null ? [] : [["Settled", <When at={delivery.settledAt} />] as const],
      ["Contains", plural(delivery.events, "event")],
      [
        "Subscription",
        <a href={subscriptionHref(delivery.subscriptionId)}><span class="id"><Shown text={delivery.subscriptionId} /></span></a>
      ],
      ["Endpoint now", <Shown text={delivery.endpointUrl} />]
    ]}
  />
)

const Attempts = ({ attempts }: { readonly attempts: ReadonlyArray<DeliveryAttempt> }) => (
  <section aria-labelledby="attempts">
    <h2 id="attempts">Attempts</h2>
    {attempts.length === 0 ? <Empty>None yet.</Empty> : (
      <ol class="attempts" reversed>
        {attempts.toReversed().map((attempt) => (
          <li key={attempt.attempt} value={attempt.attempt}>
            <p>
              <Tag tone={attempt.outcome === "accepted" ? "good" : "bad"} text={outcomeText(attempt.outcome)} />{" "}
              {attempt.status !== null && <strong>HTTP {attempt.status}</strong>} <When at={attempt.at} /> <small>took {durationText(attempt.durationMillis)}</small>
            </p>
            {attempt.detail !== null && <p><Shown text={attempt.detail} /></p>}
            {attempt.answer !== null && attempt.answer !== "" && (
              <>
                <p><small>The receiver answered, in its first bytes:</small></p>
                <ShownBlock label={`Answer to attempt ${attempt.attempt}`} text={attempt.answer} />
              </>
            )}
          </li>
        ))}
      </ol>
    )}
  </section>
)
