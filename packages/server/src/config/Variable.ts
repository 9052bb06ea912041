/** One environment variable: its name, what it means, and how its text is read. */
import { Config, Effect, Option, Result } from "effect"

export interface Variable<A> {
  readonly name: string
  /** Its default, in words. */
  readonly fallback: string
  readonly meaning: string
  /** Fails with what is wrong and what to do; the name is put in front of it. A secret's text must not stand in it. */
  readonly read: (text: string) => Result.Result<A, string>
}

/** A variable's text that cannot be used. */
export interface VariableFault {
  readonly variable: string
  readonly problem: string
}

/** Reads a variable where it is set, and puts down its fault. An empty one counts as not set. */
export const readVariable = <A>(variable: Variable<A>, faults: Array<VariableFault>): Effect.Effect<A | undefined> =>
  Effect.map(Effect.option(Config.option(Config.String(variable.name))), (found) => {
    const text = Option.getOrUndefined(Option.flatten(found))?.trim()
    if (text === undefined || text === "") return undefined
    const result = variable.read(text)
    if (Result.isSuccess(result)) return result.success
    faults.push({ variable: variable.name, problem: result.failure })
    return undefined
  })

export const text = (isGood: (text: string) => boolean, problem: string) => (value: string): Result.Result<string, string> =>
  isGood(value) ? Result.succeed(value) : Result.fail(problem)

/** A whole number within bounds. */
export const integer = (minimum: number, maximum: number, what = "a whole number") => (value: string): Result.Result<number, string> => {
  const number = /^\d{1,15}$/.test(value) ? Number(value) : NaN
  return number >= minimum && number <= maximum
    ? Result.succeed(number)
    : Result.fail(`is ${shown(value)}, and has to be ${what} from ${minimum} to ${maximum}`)
}

/** Seconds, as milliseconds; fractions are fine. */
export const seconds = (minimum: number, maximum: number) => (value: string): Result.Result<number, string> => {
  const number = /^\d{1,9}(\.\d{1,3})?$/.test(value) ? Number(value) : NaN
  return number >= minimum && number <= maximum
    ? Result.succeed(Math.round(number * 1000))
    : Result.fail(`is ${shown(value)}, and has to be a number of seconds from ${minimum} to ${maximum}`)
}

export const oneOf = <const A extends string>(choices: ReadonlyArray<A>) => (value: string): Result.Result<A, string> => {
  const found = choices.find((choice) => choice === value.toLowerCase())
  return found === undefined ? Result.fail(`is ${shown(value)}, and has to be one of ${choices.join(", ")}`) : Result.succeed(found)
}

const yes = ["on", "true", "yes", "1"]
const no = ["off", "false", "no", "0"]

export const onOff = (value: string): Result.Result<boolean, string> => {
  const lower = value.toLowerCase()
  if (yes.includes(lower)) return Result.succeed(true)
  return no.includes(lower) ? Result.succeed(false) : Result.fail(`is ${shown(value)}, and has to be on or off`)
}

/** For values that are no secrets. */
export const shown = (value: string): string => JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
