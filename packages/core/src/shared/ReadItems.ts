/** Reads the items of a call one by one, so that each is accepted or refused by itself. */
import { Effect, Result } from "effect"
import { type Fault, maxFaults } from "./Fault.ts"
import { InvalidInput } from "./InvalidInput.ts"
import { makePace } from "./Turns.ts"

/** A refused item. */
export interface RefusedItem {
  readonly index: number
  readonly result: "refused"
  readonly faults: ReadonlyArray<Fault>
}

/** The error of a call that is refused as a whole. */
export const refusedCall = (refused: ReadonlyArray<RefusedItem>): InvalidInput =>
  new InvalidInput({ faults: refused.flatMap((each) => each.faults).slice(0, maxFaults) })

/**
 * A call that is refused as a whole stops after 100 faults. With `partial`, every refused item gets at least its first fault. `read` returns a
 * result where no effect is needed: an effect for each event takes longer than reading it.
 */
export const readEach = Effect.fnUntraced(function*<A>(
  items: ReadonlyArray<unknown>,
  partial: boolean,
  read: (item: unknown, index: number) => Result.Result<A, InvalidInput> | Effect.Effect<Result.Result<A, InvalidInput>>
) {
  const good: Array<A> = []
  const refused: Array<RefusedItem> = []
  const pace = yield* makePace
  let faultsLeft = maxFaults
  for (let index = 0; index < items.length && (partial || faultsLeft > 0); index++) {
    if (pace.isDue()) yield* pace.turn
    const reading = read(items[index], index)
    const result = Result.isResult(reading) ? reading : yield* reading
    if (Result.isSuccess(result)) {
      good.push(result.success)
    } else {
      const faults = result.failure.faults.slice(0, Math.max(1, faultsLeft))
      faultsLeft -= faults.length
      refused.push({ index, result: "refused", faults })
    }
  }
  return { good, refused }
})
