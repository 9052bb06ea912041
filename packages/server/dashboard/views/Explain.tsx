/** Explains why a subscription did or did not receive something. */
import type { Explanation, ExplainSubject } from "@waybill/client/operator"
import { useEffect, useId } from "preact/hooks"
import { hashOf, type Route } from "../model/routes.ts"
import { plural, subjects, verdictText } from "../model/words.ts"
import { notBlank } from "../parts/Fields.tsx"
import { Answered } from "../parts/Notes.tsx"
import { Shown } from "../parts/Shown.tsx"
import { Facts, Table } from "../parts/Table.tsx"
import { DeliveryTag } from "../parts/Tags.tsx"
import { When } from "../parts/When.tsx"
import { useAppState } from "../session/Context.ts"
import { useDraft } from "../session/useDraft.ts"
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
  const { announce } = useAppState()
  const verdict = polled.stale || polled.data === undefined ? undefined : verdictText(polled.data.verdict, polled.data.waitingFor)
  useEffect(() => {
    if (verdict !== undefined) announce(`${verdict}.`)
  }, [hashOf(route), verdict])
  return (
    <>
      <h1 tabIndex={-1}>Explain a delivery</h1>
      <Question route={route} />
      {!complete && <p>Why a subscription received an event, a status, a bill or a pickup, or why it did not: the rules that decided, and the deliveries.</p>}
      {complete && (
        <Answered of={polled} missing="Not found. Check the subscription and the number: nothing with this number was reported to this tenant.">
          {(explanation) => <Answer explanation={explanation} route={route} />}
        </Answered>
      )}
    </>
  )
}

const Question = ({ route }: { readonly route: ExplainRoute }) => {
  const id = useId()
  const { tenantId } = route
  const [draft, setDraft] = useDraft(route, hashOf(route))
  const { by, subscriptionId, value } = draft
  const type = (typed: Partial<ExplainRoute>) => setDraft({ ...draft, ...typed })
  return (
    <search>
      <form
        class="filter"
        onSubmit={(event) => {
          event.preventDefault()
          location.hash = hashOf({ view: "explain", tenantId, subscriptionId: subscriptionId?.trim(), by: by ?? subjects[0][0], value: value?.trim() })
        }}
      >
        <div class="field wide">
          <label for={`${id}s`}>Subscription</label>
          <input id={`${id}s`} type="text" value={subscriptionId ?? ""} onInput={(event) => type({ subscriptionId: event.currentTarget.value })} required {...notBlank} autocomplete="off" spellcheck={false} />
        </div>
        <div class="field">
          <label for={`${id}b`}>Find by</label>
          <select id={`${id}b`} value={by ?? subjects[0][0]} onChange={(event) => type({ by: event.currentTarget.value })}>
            {subjects.map(([subject, text]) => <option key={subject} value={subject}>{text}</option>)}
          </select>
        </div>
        <div class="field wide">
          <label for={`${id}v`}>Number or id</label>
          <input id={`${id}v`} type="text" value={value ?? ""} onInput={(event) => type({ value: event.currentTarget.value })} required {...notBlank} autocomplete="off" enterkeyhint="search" spellcheck={false} />
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
