/** Retries or dismisses all dead letters that match a filter, step by step. */
import type { DeadLettersFilter } from "@waybill/client/operator"
import { useState } from "preact/hooks"
import { hostOf, outcomeText, plural, totalText } from "../model/words.ts"
import { utcText } from "../model/time.ts"
import { Dialog } from "../parts/Dialog.tsx"
import { ShownList } from "../parts/Shown.tsx"
import { useAppState } from "../session/Context.ts"
import { runSteps } from "../session/runSteps.ts"

export interface BulkAct {
  readonly act: "dismiss" | "retry"
  /** How many matched when the list was read, up to the bound of a total; `undefined` if the server did not count. */
  readonly matching: number | undefined
}

interface BulkDialogProps {
  readonly tenantId: string
  readonly asked: BulkAct
  readonly filter: DeadLettersFilter
  readonly close: (result?: string) => void
}

export const BulkDialog = ({ asked: { act, matching }, close, filter, tenantId }: BulkDialogProps) => {
  const { client } = useAppState()
  const [done, setDone] = useState(0)
  // The filter and the number when the dialog opened, even if the list changes.
  const [[chosen, expected]] = useState([filter, matching] as const)
  const dead = expected === undefined ? "all dead letters that match" : totalText(expected, "dead letter")

  const run = () =>
    runSteps({
      call: (cursor) => act === "retry" ? client.retryDeadLetters(tenantId, { ...chosen, cursor }) : client.dismissDeadLetters(tenantId, { ...chosen, cursor }),
      count: ({ changed }) => changed,
      progress: setDone,
      told: (changed) => `${plural(changed, "dead letter")} ${act === "retry" ? "queued again" : "dismissed"}.`
    })

  return (
    <Dialog title={act === "retry" ? `Send ${dead} again?` : `Dismiss ${dead}?`} confirm={act === "retry" ? "Send all again" : "Dismiss all"} act={run} close={close}>
      <p>Everything that matches: <ShownList texts={partsOf(chosen)} />. Those that become dead letters meanwhile are included.</p>
      <p>{act === "retry" ? "The same bytes are sent under the same ids, with a full series of attempts." : "Dismissed dead letters no longer count and are not recovered. Each can still be retried."}</p>
      <p><progress value={expected === undefined ? undefined : done} max={Math.max(expected ?? 0, done, 1)} aria-label={act === "retry" ? "Queued again" : "Dismissed"} /></p>
    </Dialog>
  )
}

/** The parts of a filter in words. */
const partsOf = ({ client, endpoint, error, since, subscriptionId, until }: DeadLettersFilter): ReadonlyArray<string> => [
  ...client === undefined ? [] : [`client ${client}`],
  ...endpoint === undefined ? [] : [`endpoint ${hostOf(endpoint)}`],
  ...error === undefined ? [] : [outcomeText(error)],
  ...subscriptionId === undefined ? [] : [`subscription ${subscriptionId}`],
  ...since === undefined ? [] : [`created since ${utcText(String(since))} UTC`],
  ...until === undefined ? [] : [`created before ${utcText(String(until))} UTC`]
]
