/** Drops the waiting entries of all subscriptions that match a filter, step by step. */
import type { PurgeFilter } from "@waybill/client/operator"
import { useState } from "preact/hooks"
import { hostOf, plural, totalText } from "../model/words.ts"
import { Dialog } from "../parts/Dialog.tsx"
import { ShownList } from "../parts/Shown.tsx"
import { useAppState } from "../session/Context.ts"
import { runSteps } from "../session/runSteps.ts"

interface BulkPurgeProps {
  readonly tenantId: string
  readonly filter: PurgeFilter
  /** How many subscriptions matched when the list was read, up to the bound of a total. */
  readonly matching: number
  readonly close: (result?: string) => void
}

export const BulkPurgeDialog = ({ close, filter, matching, tenantId }: BulkPurgeProps) => {
  const { client } = useAppState()
  const [dropped, setDropped] = useState(0)
  // The filter and the number when the dialog opened, even if the list changes.
  const [[chosen, expected]] = useState([filter, matching] as const)
  const run = () =>
    runSteps({
      call: (cursor) => client.purgeMatching(tenantId, { ...chosen, cursor }),
      count: ({ dropped }) => dropped,
      progress: setDropped,
      told: (count) => count === 0 ? "Nothing was waiting. Nothing was dropped." : `${plural(count, "entry", "entries")} dropped.`
    })
  return (
    <Dialog title={`Purge ${totalText(expected, "subscription")}?`} confirm="Purge all" act={run} close={close}>
      <p>Everything that matches: <ShownList texts={partsOf(chosen)} />.</p>
      <p>All their waiting entries are dropped, and deliveries that wait for a retry are cancelled. Transit events and changes of pickups can be replayed; other notifications are lost.</p>
      {dropped > 0 && <p role="status">{plural(dropped, "entry", "entries")} dropped so far.</p>}
    </Dialog>
  )
}

const partsOf = ({ client, endpoint, state }: PurgeFilter): ReadonlyArray<string> => [
  ...client === undefined ? [] : [`client ${client}`],
  ...endpoint === undefined ? [] : [`endpoint ${hostOf(endpoint)}`],
  ...state === undefined ? [] : [`state ${state}`]
]
