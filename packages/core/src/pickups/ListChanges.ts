/** Pages of the carrier's work list. */
import { Effect } from "effect"
import { carriersOnly } from "../access/Callers.ts"
import type { Principal } from "../access/model/Principal.ts"
import { fault } from "../shared/Fault.ts"
import { parseInstant } from "../shared/Instant.ts"
import { decodeInput, InvalidInput } from "../shared/InvalidInput.ts"
import { defaultListLimit, foreignCursor, maxPageSize } from "../shared/ListPage.ts"
import { PickupChangeQuery } from "./model/PickupChange.ts"
import { readPickupStatus } from "./model/PickupStatus.ts"
import { viewerOf } from "./PickupAccess.ts"
import type { PickupStore } from "./PickupStore.ts"

/** A page of the carrier's work list. */
export interface PickupChangePage {
  /** The entries as JSON bytes (`PickupChangeEntry`). */
  readonly data: ReadonlyArray<Uint8Array>
  /** Where the next page starts, also at the end of the list. */
  readonly nextCursor: string
}

/** Reads of one page, while nothing matches. After them the page is empty and its cursor continues. */
const readsPerPage = 10

/** The numbers up to such a cursor are given again, so a poller that goes on at it would miss orders. */
const cursorAhead = Effect.suspend(() =>
  Effect.fail(InvalidInput.of(fault(["cursor"], "cursor is beyond the end of the work list: the database was restored from a backup. Start again without it."))))

const decodeQuery = decodeInput(PickupChangeQuery, { closed: true })

export const makeListChanges = (store: (typeof PickupStore)["Service"]) =>
  Effect.fn("Pickups.changes")(function*(principal: Principal, input: unknown = {}) {
    yield* carriersOnly(principal)
    const { cursor = "0", limit = defaultListLimit, since, status } = yield* decodeQuery(input)
    if (!/^(?:0|[1-9]\d{0,14})$/u.test(cursor)) return yield* foreignCursor
    const range = {
      viewer: viewerOf(principal),
      since: since === undefined ? undefined : parseInstant(since),
      status: status === undefined ? undefined : readPickupStatus(status)!.status,
      limit,
      bytes: maxPageSize
    }
    let after = Number(cursor)
    for (let reads = 1;; reads++) {
      const { entries, more, through } = yield* store.changes(principal.tenantId, { ...range, after })
      if (through < after) return yield* cursorAhead
      const page: PickupChangePage = { data: entries.map(({ body }) => body), nextCursor: String(entries.at(-1)?.changeNo ?? through) }
      if (entries.length > 0 || !more || reads === readsPerPage) return page
      after = through
    }
  })
