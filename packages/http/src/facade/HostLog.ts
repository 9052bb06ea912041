/** Gives log entries to the host's `log`, with the host's own errors; without `log`, writes them to standard error. */
import { Cause, Layer, Logger, References } from "effect"
import { withoutSecrets } from "../shared/WithoutSecrets.ts"

/** One log entry. Never contains a key, a secret or a body. */
export interface LogEntry {
  /** `warn` and `error` may need action; `info` has a line for each request, `debug` one for each probe and refused caller. */
  readonly level: "fatal" | "error" | "warn" | "info" | "debug" | "trace"
  readonly at: string
  readonly message: string
  /** Fields such as `correlationId`, `tenant` and `route`. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Name, message and stack of the error and its causes. */
  readonly cause: string | undefined
  /** The error that your own code threw, such as `authenticate` or the pickup desk: the same object. */
  readonly error: Error | undefined
}

export const loggerOf = (log: ((entry: LogEntry) => void) | undefined): Layer.Layer<never> => {
  const write = log === undefined ? writeLine : (entry: LogEntry) => give(log, entry)
  const logger = Logger.make<unknown, void>(({ cause, date, fiber, logLevel, message }) => {
    const [text, ...more] = Array.isArray(message) ? message as ReadonlyArray<unknown> : [message]
    const errors = [...more.map((each) => Cause.isCause(each) ? Cause.squash(each) : each), ...(cause.reasons.length > 0 ? [Cause.squash(cause)] : [])]
    write({
      level: logLevel.toLowerCase() as LogEntry["level"],
      at: date.toISOString(),
      message: String(text),
      fields: fiber.getRef(References.CurrentLogAnnotations),
      cause: errors.length === 0 ? undefined : withoutSecrets(errors.map(textOf).join("; ")),
      error: errors.find(isOfHost)
    })
  })
  return Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, log === undefined ? "Warn" : "Debug"))
}

/** A `log` that fails must not fail the request that it was called for. */
const give = (log: (entry: LogEntry) => unknown, entry: LogEntry): void => {
  const failed = (error: unknown) => {
    writeLine(entry)
    writeLine({ ...entry, level: "error", message: "The log function of createWaybill failed. The entry before this one was for it.", fields: {}, cause: withoutSecrets(textOf(error)) })
  }
  try {
    const written = log(entry)
    if (written instanceof Promise) written.catch(failed)
  } catch (error) {
    failed(error)
  }
}

const writeLine = ({ at, cause, fields, level, message }: LogEntry): void => {
  const line = { time: at, level, message, ...fields, ...(cause === undefined ? {} : { cause }) }
  process.stderr.write(`${JSON.stringify(line, (_, value: unknown) => typeof value === "bigint" ? String(value) : value)}\n`)
}

const maxCauses = 6

/** Causes of these are left out: errors of a database driver may quote the statement's values. */
const isSqlError = (error: object): boolean => "_tag" in error && error._tag === "SqlError"

const chainOf = (error: unknown): ReadonlyArray<unknown> => {
  const chain: Array<unknown> = []
  for (let current = error; current !== undefined && current !== null && chain.length < maxCauses;) {
    chain.push(current)
    if (typeof current !== "object" || isSqlError(current)) break
    current = (current as { readonly cause?: unknown }).cause
  }
  return chain
}

const textOf = (error: unknown): string => chainOf(error).map(lineOf).join("\ncaused by ")

const lineOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { message, name, stack = "" } = error
  if (isSqlError(error)) return `${name}: ${message}`
  // the stack keeps the name and message of the moment when the error was made
  return stack.includes(message) && stack.includes(name) ? stack : `${name}: ${message}${stack === "" ? "" : `\n${stack}`}`
}

/** Waybill's own errors have a `_tag`. */
const isOfHost = (error: unknown): error is Error =>
  error instanceof Error && chainOf(error).every((each) => typeof each !== "object" || each === null || !("_tag" in each))
