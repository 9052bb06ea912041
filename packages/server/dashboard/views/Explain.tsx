/** Explains why a subscription did or did not receive something. */
import type { Explanation, ExplainSubject } from "@waybill/client/operator"
import { useId } from "preact/hooks"
import { hashOf, type Route } from "../model/routes.ts"
import { plural, subjects, verdictText } from "../model/words.ts"
import { Answered } from "../parts/Notes.tsx"
import { Shown } from "../parts/Shown.tsx"
import { Facts, Table } from "../parts/Table.tsx"
import { DeliveryTag } from "../parts/Tags.tsx"
import { When } from "../parts/When.tsx"
import { usePolled } from "../session/usePolled.ts"

type ExplainRoute = Extract<Route, { readonly view: "explain" }>

const pollMillis = 10_000

export const Explain = ({ route }: { readonly route: ExplainRoute }) => {
  const { by, subscriptionId, tenantId, value } = route
  const complete = subscriptionId !== undefined && value !== undefined && subjects.some(([subject]) => subject === by)
  const polled = usePolled(
    complete ? hashOf(route) : undefined,
    (client, signal) => client.explain(tenantId, subscriptionId!, { [by!]: value! } as unknown as ExplainSubject, { signal }),
    pollMillis
  )
  return (
    <>
      <h1 tabIndex={-1}>Explain a delivery</h1>
      <Question key={hashOf(route)} route={route} />
      {!complete && <p>Why a subscription received an event, a status, a bill or a pickup, or why it did not: the rules that decided, and the deliveries.</p>}
      {complete && (
        <Answered of={polled} missing="Not found. Check the subscription and the number: nothing with this number was reported to this tenant.">
          {(explanation) => <Answer explanation={explanation} route={route} />}
        </Answered>
      )}
    </>
  )
}

const Question = ({ route: { by, subscriptionId, tenantId, value } }: { readonly route: ExplainRoute }) => {
  const id = useId()
  return (
    <search>
      <form
        class="filter"
        onSubmit={(event) => {
          event.preventDefault()
          const given = new FormData(event.currentTarget)
          const text = (name: string) => String(given.get(name)).trim()
          location.hash = hashOf({ view: "explain", tenantId, subscriptionId: text("subscriptionId"), by: text("by"), value: text("value") })
        }}
      >
        <div class="field wide">
          <label for={`${id}s`}>Subscription</label>
          <input id={`${id}s`} name="subscriptionId" type="text" defaultValue={subscriptionId} required autocomplete="off" spellcheck={false} />
        </div>
        <div class="field">
          <label for={`${id}b`}>Find by</label>
          <select id={`${id}b`} name="by">
            {subjects.map(([subject, text]) => <option key={subject} value={subject} selected={subject === by}>{text}</option>)}
          </select>
        </div>
        <div class="field wide">
          <label for={`${id}v`}>Number or id</label>
          <input id={`${id}v`} name="value" type="text" defaultValue={value} required autocomplete="off" enterkeyhint="search" spellcheck={false} />
        </div>
        <button type="submit">Explain</button>
      </form>
    </search>
  )
}

const reasonColumns = [{ name: "Rule" }, { name: "Expected" }, { name: "Actual" }]

const deliveryColumns = [{ name: "Delivery" }, { name: "State" }, { name: "Attempts", number: true }, { name: "Last status", number: true }, { name: "Time" }]

const Answer = ({ explanation: { deliveries, reasons, verdict, waitingFor }, route }: { readonly explanation: Explanation; readonly route: ExplainRoute }) => {
  const { subscriptionId = "", tenantId } = route
  return (
    <>
      <Facts
        facts={[
          ["Verdict", <strong><Shown text={verdictText(verdict, waitingFor)} /></strong>],
          ["Subscription", <a href={hashOf({ view: "subscription", tenantId, subscriptionId })}><Shown text={subscriptionId} /></a>]
        ]}
      />
      {reasons.length > 0 && (
        <Table
          caption="Rules that decided"
          columns={reasonColumns}
          rows={reasons.map(({ actual, expected, rule }) => ({ id: rule, cells: [<Shown text={rule} />, <Shown text={expected} />, <Shown text={actual} />] }))}
        />
      )}
      {deliveries.length > 0 && (
        <Table
          caption={plural(deliveries.length, "delivery", "deliveries")}
          columns={deliveryColumns}
          rows={deliveries.map(({ at, attempts, deliveryId, lastStatus, state }) => ({
            id: deliveryId,
            cells: [
              <a class="id" href={hashOf({ view: "delivery", tenantId, deliveryId })}><Shown text={deliveryId} /></a>,
              <DeliveryTag state={state} />,
              attempts,
              lastStatus ?? "–",
              <When at={at} />
            ]
          }))}
        />
      )}
    </>
  )
}
