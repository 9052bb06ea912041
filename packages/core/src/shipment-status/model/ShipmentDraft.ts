/** The mutable state of a shipment while a report is applied. */
import type { FreightException } from "./CodeLists.ts"
import type { KnownShipment, ShipmentState } from "./ShipmentState.ts"
import type { Movement } from "./StatusMessage.ts"
import type { Information, StatusReport } from "./StatusReport.ts"
import type { ShipmentView } from "./VerifiedShipment.ts"

export type Mutable<A> = { -readonly [K in keyof A]: A[K] }

export class Draft {
  readonly view: Mutable<ShipmentView>
  readonly state: Mutable<ShipmentState>
  readonly report: StatusReport
  readonly movement: Mutable<Movement> = {}
  readonly informations: Array<Information> = []
  readonly exceptions: Array<FreightException> = []
  /** Whether the movement causes a notification. */
  moves = false
  /** Whether something changed that causes no notification. */
  changesQuietly = false
  /** Whether the shipment reached a milestone. */
  moved = false

  constructor({ state, view }: KnownShipment, report: StatusReport) {
    this.view = { ...view }
    this.state = { ...state }
    this.report = report
  }

  get changes(): boolean {
    return this.moves || this.changesQuietly || this.informations.length > 0 || this.exceptions.length > 0
  }
}

/** Whether this report is the newest for one aspect. If so, records its time, and older reports no longer apply. */
export const isNewest = (draft: Draft, aspect: string): boolean => {
  const { report, state } = draft
  if (report.undated === true) return true
  if (report.at < (state.seen[aspect] ?? -Infinity)) return false
  state.seen = { ...state.seen, [aspect]: report.at }
  return true
}
