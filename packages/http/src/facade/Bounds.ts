/** Limits the size of a host's arguments, like the body of a request: values are counted before they are copied and read. */
import { fault, InvalidInput, makePace } from "@waybill/core"
import { Effect } from "effect"
import type { ServiceFailure } from "../shared/ProblemOf.ts"
import { maxMembers } from "../shared/ParseBody.ts"
import { maxListItems } from "./Plain.ts"
import { missingText } from "./TextArguments.ts"

/** Maximum values of one argument, or of one item of a list; equal to the largest body that is read in one go. */
export const maxHostValues = 131_072

/** Up to this count, values are counted in one go. */
const fewValues = 4096

export type Method = (...given: ReadonlyArray<never>) => Promise<unknown>
export type Groups = Readonly<Record<string, unknown>>
type Run = <A>(effect: Effect.Effect<A, ServiceFailure>) => Promise<A>

/** Wraps the methods: each checks and counts its arguments before it runs, in slices if there are many values. */
export const withBounds = <M extends object>(run: Run, methods: M): M => Object.fromEntries(Object.entries(methods).map(([name, group]) =>
  typeof group === "object" && group !== null
    ? [name, Object.fromEntries(Object.entries(group as Groups).map(([each, method]) => [each, boundedMethod(run, [name, each], method as Method)]))]
    : [name, group])) as M

const boundedMethod = (run: Run, [group, name]: readonly [group: string, name: string], method: Method): Method => async (...given) => {
  const missing = missingText(group, name, given[1])
  if (missing !== undefined) await run(missing)
  const count = new HostCount(given)
  const verdict = count.step(fewValues)
  if (verdict !== "done") await run(verdict === undefined ? countOn(count) : verdict)
  return method(...given)
}

const countOn = Effect.fnUntraced(function*(count: HostCount): Effect.fn.Return<void, InvalidInput> {
  const pace = yield* makePace
  for (;;) {
    yield* pace.turn
    do {
      const verdict = count.step(fewValues)
      if (verdict === "done") return
      if (verdict !== undefined) return yield* verdict
    } while (!pace.isDue())
  }
})

const beyond = (detail: string): InvalidInput => InvalidInput.of(fault([], detail, "out_of_bounds"))

/** Counts values, one argument or item after the other. Items of a list that is too long are not counted, because its length refuses it. */
class HostCount {
  private readonly waiting: Array<unknown>
  private readonly open: Array<unknown> = []
  private values = 0

  constructor(given: ReadonlyArray<unknown>) {
    this.waiting = given.flatMap((each) => Array.isArray(each) ? each.length > maxListItems ? [] : each : [each])
  }

  /** Counts up to `most` more values. `undefined` while there are more. */
  step(most: number): "done" | InvalidInput | undefined {
    for (let left = most; left > 0; left--) {
      if (this.open.length === 0) {
        if (this.waiting.length === 0) return "done"
        this.values = 0
        this.open.push(this.waiting.pop())
      }
      const value = this.open.pop()
      if (++this.values > maxHostValues) return beyond(`A value or item has at most ${maxHostValues} values.`)
      if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || value instanceof Date) continue
      if (Array.isArray(value)) {
        if (value.length > maxHostValues) return beyond(`A list has at most ${maxHostValues} items.`)
        for (const item of value) this.open.push(item)
        continue
      }
      const names = Object.keys(value)
      if (names.length > maxMembers) return beyond(`An object has at most ${maxMembers} members.`)
      for (const name of names) this.open.push((value as Readonly<Record<string, unknown>>)[name])
    }
    return undefined
  }
}
