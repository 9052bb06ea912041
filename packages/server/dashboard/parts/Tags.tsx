/** Labels of states and areas: always text, plus a colour. */
import type { OperatorSubscription } from "@waybill/client/operator"
import { type Severity, troubleOf } from "../model/trouble.ts"
import { areaNames, deliveryTones, deliveryWords, type Tone } from "../model/words.ts"
import { Shown } from "./Shown.tsx"

export const Tag = ({ text, tone }: { readonly tone: Tone; readonly text: string }) => (
  <span class={`tag ${tone}`}><Shown text={text} /></span>
)

export const DeliveryTag = ({ state }: { readonly state: string }) => <Tag tone={deliveryTones[state] ?? "plain"} text={deliveryWords[state] ?? state} />

export const AreaTag = ({ area }: { readonly area: string }) => (
  <span class={area in areaNames ? `area ${area}` : "area"}><Shown text={areaNames[area] ?? area} /></span>
)

const tones: Readonly<Record<Severity, Tone>> = { trouble: "bad", warning: "careful", well: "good", quiet: "plain" }

/** A subscription's state and its problems. */
export const SubscriptionTag = ({ subscription }: { readonly subscription: OperatorSubscription }) => {
  const { severity, signs } = troubleOf(subscription)
  return (
    <>
      <Tag tone={tones[severity]} text={signs[0] ?? subscription.state} />
      {signs.length > 1 && <small class="signs">{signs.slice(1).join(", ")}</small>}
    </>
  )
}
