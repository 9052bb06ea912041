/** An environment variable: name, meaning and parser. */
import { Effect, Result } from "effect"
import { createReadStream } from "node:fs"
import { bytesUpTo } from "../BytesUpTo.ts"
import { messageOf } from "../ErrorMessage.ts"
import { setting } from "./Setting.ts"

export interface Variable<A> {
  readonly name: string
  /** The default: a text that is read like a value where `isRead`, else a description. */
  readonly fallback: string
  readonly isRead?: true
  readonly meaning: string
  /** Whether `<name>_FILE` may name a file that contains the value. */
  readonly hasFile?: true
  /** Fails with what is wrong and how to fix it, after the variable's name. Must not quote a secret. */
  readonly read: (text: string) => Result.Result<A, string>
}

/** A variable that always has a value. */
export interface DefaultedVariable<A> extends Variable<A> {
  readonly isRead: true
}

/** A variable with an invalid value. */
export interface VariableFault {
  readonly variable: string
  readonly problem: string
}

/** Name of the variable for a file with this variable's value. */
export const fileNameOf = (name: string): string => `${name}_FILE`

/** Reads a variable and records an invalid value in `faults`. An empty variable counts as not set. */
export const readVariable = <A>(variable: Variable<A>, faults: Array<VariableFault>): Effect.Effect<A | undefined> =>
  Effect.gen(function*() {
    const { name } = variable
    const found = yield* setting(name)
    const direct = found !== undefined && isServiceLink(name, found) ? undefined : found
    const path = variable.hasFile === true ? yield* setting(fileNameOf(name)) : undefined
    if (direct !== undefined && path !== undefined) {
      faults.push({ variable: fileNameOf(name), problem: `is set, and ${name} is set too. Set one of them` })
      return undefined
    }
    const given = path === undefined ? { variable: name, text: direct } : { variable: fileNameOf(name), text: yield* fileText(fileNameOf(name), path, faults) }
    if (given.text === undefined) return undefined
    const result = variable.read(given.text)
    if (Result.isSuccess(result)) return result.success
    faults.push({ variable: given.variable, problem: path === undefined ? result.failure : `names a file whose text ${result.failure}` })
    return undefined
  })

/** What Kubernetes sets as `WAYBILL_PORT` in every pod next to a service that is called waybill: nobody's choice, so it counts as not set. */
const isServiceLink = (name: string, value: string): boolean => name.endsWith("_PORT") && /^(?:tcp|udp|sctp):\/\//.test(value)

/** The value of a variable that is not set. */
export const defaultOf = <A>({ fallback, isRead, read }: Variable<A>): A | undefined => isRead === true ? Result.getOrThrow(read(fallback)) : undefined

const fileText = (variable: string, path: string, faults: Array<VariableFault>): Effect.Effect<string | undefined> =>
  Effect.promise(async () => {
    try {
      // a wrong path may lead to a large file or an endless device
      const text = (await bytesUpTo(mostBytes, createReadStream(path)))?.toString("utf8").trim()
      if (text) return text
      if (text === undefined) faults.push({ variable, problem: `names ${shown(path)}, which has more than 1 MiB. Correct the path` })
      else faults.push({ variable, problem: `names ${shown(path)}, which is empty. Put the value into it` })
    } catch (error) {
      // the message of Node ends with the path, and the path may be a secret in the wrong variable
      const why = messageOf(error).replace(/, \w+(?: '.*')?$/s, "")
      faults.push(looksLikePath(path)
        ? { variable, problem: `names ${shown(path)}, which cannot be read: ${why}. Correct the path, or let this user read it` }
        : { variable, problem: `names no file: ${why}. Set it to the path of a file, or put the value itself into ${variable.replace(/_FILE$/, "")}` })
    }
    return undefined
  })

/** Of a file with a value. */
const mostBytes = 1_048_576

/** Keys in base64 end with `=`, and hexadecimal ones and addresses do not start like this. */
const looksLikePath = (path: string): boolean => /^(?:\.{0,2}\/|[A-Za-z]:\\)/.test(path) && !path.endsWith("=")

export const text = (isGood: (text: string) => boolean, problem: string) => (value: string): Result.Result<string, string> =>
  isGood(value) ? Result.succeed(value) : Result.fail(problem)

/** An integer within bounds. */
export const integer = (minimum: number, maximum: number, what = "a whole number") => (value: string): Result.Result<number, string> => {
  const number = /^\d{1,15}$/.test(value) ? Number(value) : NaN
  return number >= minimum && number <= maximum
    ? Result.succeed(number)
    : Result.fail(`is ${shown(value)}, and has to be ${what} from ${minimum} to ${maximum}`)
}

/** Seconds, fractions included, converted to milliseconds. */
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

/** Quotes a value in a message. Not for secrets. */
export const shown = (value: string): string => JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
