/** One subscription: its state in words, its latest deliveries, and what its customer can do. */
import type { PortalSubscription } from "@waybill/client/portal"
import { countText } from "../model/trouble.ts"
import { ActionResult, Answered, Empty } from "../parts/Notes.tsx"
import { Dialog } from "../parts/Dialog.tsx"
import { Shown } from "../parts/Shown.tsx"
import { Facts } from "../parts/Table.tsx"
import { AreaTag, Tag } from "../parts/Tags.tsx"
import { When } from "../parts/When.tsx"
import { textIn } from "../session/Server.ts"
import { useDialog } from "../session/useDialog.ts"
import { DeliveryRows } from "../views/DeliveryRows.tsx"
import { hashOf } from "./routes.ts"
import { usePortal, usePortalClient } from "./SessionContext.ts"
import { LastAttempt } from "./Subscriptions.tsx"
import { stateInWords } from "./words.ts"

type Asked = "pause" | "resume" | "test"

const latest = 20

export const Subscription = ({ subscriptionId }: { readonly subscriptionId: string }) => {
  const polled = usePortal(hashOf({ view: "subscription", subscriptionId }), async (client, signal) => {
    const subscription = await client.getSubscription(subscriptionId, { signal })
    const deliveries = await client.listDeliveries({ subscriptionId, limit: latest }, { signal })
    return { subscription, deliveries: deliveries.data }
  })
  const { ask, asked, close, result } = useDialog<Asked>(polled)
  return (
    <>
      <h1 tabIndex={-1}>Subscription <span class="id"><Shown text={subscriptionId} /></span></h1>
      <ActionResult result={result} />
      <Answered of={polled} missing="Subscription not found. It may have been deleted.">
        {({ deliveries, subscription }) => (
          <>
            <SubscriptionFacts subscription={subscription} />
            <div class="actions">
              {subscription.state === "paused" && subscription.pausedBy !== "operator" && <button type="button" onClick={() => ask("resume")}>Resume …</button>}
              <button type="button" class={subscription.state === "paused" ? "secondary" : undefined} onClick={() => ask("test")}>Send test event …</button>
              {subscription.state === "active" && <button type="button" class="secondary" onClick={() => ask("pause")}>Pause …</button>}
            </div>
            <section aria-labelledby="latest">
              <h2 id="latest">Latest deliveries</h2>
              {deliveries.length === 0 ? <Empty>No deliveries yet.</Empty> : (
                <DeliveryRows question={subscriptionId} caption={`The newest ${deliveries.length}`} deliveries={deliveries} hrefOf={(deliveryId) => hashOf({ view: "delivery", deliveryId })} />
              )}
              {deliveries.length === latest && <p><a href={hashOf({ view: "deliveries", subscriptionId })}>All deliveries of this subscription</a></p>}
            </section>
          </>
        )}
      </Answered>
      {asked === "pause" && <PauseDialog subscriptionId={subscriptionId} close={close} />}
      {asked === "resume" && <ResumeDialog subscriptionId={subscriptionId} close={close} />}
      {asked === "test" && <TestDialog subscriptionId={subscriptionId} close={close} />}
    </>
  )
}

const SubscriptionFacts = ({ subscription }: { readonly subscription: PortalSubscription }) => {
  const { area, dead, endpointUrl, hmacSecretId, oldestWaitingAt, since, state, waiting } = subscription
  const { detail, short, tone } = stateInWords(subscription)
  return (
    <Facts
      facts={[
        // an active one has been active since then; what the text says of its attempts began later
        ["State", <><Tag tone={tone} text={short} />{state !== "active" && <> <small>since <When at={since} /></small></>}</>],
        ["Meaning", <Shown text={detail} />],
        ["Endpoint", <Shown text={endpointUrl} />],
        ["Area", <AreaTag area={area} />],
        ["Secret", <Shown text={hmacSecretId} />],
        ["Last attempt", <LastAttempt of={subscription} />],
        ["Waiting entries", <>{countText(waiting)}{oldestWaitingAt !== null && <> <small>the oldest since <When at={oldestWaitingAt} /></small></>}</>],
        ["Dead letters", countText(dead)]
      ]}
    />
  )
}

interface ActionProps {
  readonly subscriptionId: string
  readonly close: (result?: string) => void
}

const PauseDialog = ({ close, subscriptionId }: ActionProps) => {
  const client = usePortalClient()
  const act = async () => {
    const { state } = await client.pause(subscriptionId)
    return `The subscription is ${textIn(state)}.`
  }
  return <Dialog title="Pause the subscription?" confirm="Pause" act={act} close={close}><p>Nothing more is sent until you resume it. New entries wait.</p></Dialog>
}

const ResumeDialog = ({ close, subscriptionId }: ActionProps) => {
  const client = usePortalClient()
  const act = async () => {
    const { state } = await client.resume(subscriptionId)
    return `The subscription is ${textIn(state)}.`
  }
  return <Dialog title="Resume the subscription?" confirm="Resume" act={act} close={close}><p>Waiting entries are sent in order. Send a test event first if the endpoint failed.</p></Dialog>
}

const TestDialog = ({ close, subscriptionId }: ActionProps) => {
  const client = usePortalClient()
  const act = async () => {
    const { accepted, detail } = await client.sendTest(subscriptionId)
    return `${accepted ? "The endpoint accepted the test event." : "The endpoint did not accept the test event."} ${textIn(detail)}`
  }
  return (
    <Dialog title="Send a test event?" confirm="Send" act={act} close={close}>
      <p>A signed request of the type <code>webhook.test</code>, without freight data, is sent to the endpoint once. The result appears here.</p>
    </Dialog>
  )
}
