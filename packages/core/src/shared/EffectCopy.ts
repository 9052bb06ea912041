/**
 * The copy of `effect` that Waybill runs on. A process may hold several copies; their values look alike and do not work
 * together, so a value of another copy is refused where it arrives.
 */
import { Effect, Layer, Version } from "effect"

/** One copy of `effect`, by its version and the package that loaded it. */
export interface EffectCopy {
  readonly version: string
  /** URL of the module of `@waybill/core` that loaded it. */
  readonly loadedBy: string
}

/** The copy of this process's `@waybill/core`. */
export const effectCopy: EffectCopy = { version: Version.getCurrentVersion(), loadedBy: import.meta.url }

/** Names the two copies and the fix. */
export class EffectCopiesMet extends Error {
  override readonly name = "EffectCopiesMet"

  constructor(what: string, other: string) {
    super(
      `Two copies of effect met: ${what} runs on ${other}, and Waybill on ${describeCopy(effectCopy)}. Install one version of every @waybill package, ` +
        `and in a program with layers effect ${effectCopy.version}; npm ls effect shows every copy.`
    )
  }
}

/** Names a copy in an error. */
export const describeCopy = ({ loadedBy, version }: EffectCopy): string => `effect ${version}, loaded by ${loadedBy}`

const ownFiber = Object.getPrototypeOf(Effect.runFork(Effect.void))

/** Fails to build in a program that runs on another copy of `effect`. */
export const layerOneEffect = (what: string): Layer.Layer<never> =>
  Layer.effectDiscard(Effect.withFiber((fiber) =>
    Object.getPrototypeOf(fiber) === ownFiber ? Effect.void : Effect.die(new EffectCopiesMet(what, runningCopy(new Error().stack)))))

/** Location of the copy that runs the calling fiber, from the stack, because a copy does not expose its version. */
const runningCopy = (stack = ""): string => {
  const places = Array.from(stack.matchAll(/((?:file:\/\/|\/|[A-Za-z]:\\)[^\s()]*[\\/]node_modules[\\/]effect)[\\/]/g), ([, place]) => place!)
  // the first frames are of Waybill's own copy, which made the effect that runs
  const other = places.find((place) => place !== places[0])
  return other === undefined ? "another effect" : `the effect in ${other}`
}
