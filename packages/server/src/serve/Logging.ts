/** The log on standard error: one line per entry, as JSON or text. */
import { withoutSecrets } from "@waybill/http"
import { isTraced } from "@waybill/core"
import { Cause, Context, type Fiber, Layer, Logger, type LogLevel, References, Tracer } from "effect"
import { printable, printableLine } from "../Printable.ts"

interface LoggingOptions {
  readonly format: "json" | "pretty"
  readonly level: LogLevel.LogLevel
  /** Entries to leave out. */
  readonly skip?: (entry: LogEntry) => boolean
  readonly write: (line: string) => void
}

export interface LogEntry {
  readonly at: Date
  readonly level: string
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly cause: string | undefined
}

/** Replaces all other loggers. */
export const loggingLayer = (options: LoggingOptions): Layer.Layer<never> => {
  const format = options.format === "json" ? jsonLine : prettyLine
  const logger = Logger.make<unknown, void>(({ cause, date, fiber, logLevel, message }) => {
    const entry: LogEntry = {
      at: date,
      level: logLevel.toLowerCase(),
      ...messageOf(message),
      fields: { ...fiber.getRef(References.CurrentLogAnnotations), ...traceOf(fiber) },
      cause: causeOf(message, cause)
    }
    if (options.skip?.(entry) !== true) options.write(withoutSecrets(format(entry)))
  })
  return Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, options.level))
}

/** The trace that the entry belongs to, under the names of OpenTelemetry's log data model. */
const traceOf = (fiber: Fiber.Fiber<unknown, unknown>): Readonly<Record<string, string>> => {
  if (!isTraced(fiber)) return {}
  const span = Context.getOrUndefined(fiber.context, Tracer.ParentSpan)
  return span?.sampled === true ? { trace_id: span.traceId, span_id: span.spanId } : {}
}

/** Unread bytes from which lines are dropped. A reader that stopped reading would otherwise fill the memory of the process. */
const maxUnreadBytes = 16 * 1024 * 1024

/** Buffers lines and writes them together, because one write per request is expensive. */
export const makeLineWriter = (stream: Pick<NodeJS.WritableStream & { readonly writableLength: number }, "write" | "writableLength">) => {
  let pending: Array<string> = []
  let dropped = 0
  const flush = (): void => {
    const lines = pending
    pending = []
    if (stream.writableLength > maxUnreadBytes) dropped += lines.length
    else if (lines.length > 0) {
      if (dropped > 0) lines.unshift(jsonLine({ at: new Date(), level: "warn", message: `Log lines dropped: ${dropped}. The reader of the log did not read.`, fields: {}, cause: undefined }))
      dropped = 0
      stream.write(`${lines.join("\n")}\n`)
    }
  }
  return {
    flush,
    writeLine: (line: string): void => {
      if (pending.push(line) === 1) setImmediate(flush)
    }
  }
}

const standardError = makeLineWriter(process.stderr)

export const { writeLine } = standardError

process.once("exit", standardError.flush)

const messageOf = (message: unknown): { readonly message: string } => {
  const parts = Array.isArray(message) ? message : [message]
  return { message: parts.filter((part) => !Cause.isCause(part) && !(part instanceof Error)).map((part) => typeof part === "string" ? part : JSON.stringify(part)).join(" ") }
}

const causeOf = (message: unknown, cause: Cause.Cause<unknown>): string | undefined => {
  const errors = (Array.isArray(message) ? message : [message]).flatMap((part) =>
    part instanceof Error ? [describe(part)] : Cause.isCause(part) ? [describe(Cause.squash(part))] : [])
  if (cause.reasons.length > 0) errors.push(describe(Cause.squash(cause)))
  return errors.length === 0 ? undefined : errors.join("; ")
}

/**
 * The full chain of causes: the outer error says what failed, the inner ones why. Stacks only for unexpected errors;
 * system and database errors have a code, and driver errors without a code are recognized by their message.
 */
export const describe = (error: unknown): string => {
  const lines: Array<string> = []
  let classified = false
  for (let current = error, depth = 0; current !== undefined && current !== null && depth < 6; depth++) {
    const foreseen = typeof current === "object" && (classified || "_tag" in current || "code" in current)
    classified = typeof current === "object" && "_tag" in current && current._tag === "ConnectionError"
    const text = current instanceof Error
      ? (foreseen ? current.message : current.stack ?? current.message)
      : typeof current === "string" ? current : JSON.stringify(current)
    if (text !== undefined && text !== "" && !lines.some((line) => line.includes(text))) lines.push(text)
    current = typeof current === "object" ? (current as { readonly reason?: unknown }).reason ?? (current as { readonly cause?: unknown }).cause : undefined
  }
  return lines.join(": ")
}

const jsonLine = ({ at, cause, fields, level, message }: LogEntry): string =>
  JSON.stringify({ time: at.toISOString(), level, message, ...fields, ...(cause === undefined ? {} : { cause }) }, plain)

const plain = (_: string, value: unknown): unknown =>
  typeof value === "bigint" ? String(value) : value instanceof Error ? value.message : value

/** Logs the reason why the server cannot start or continue, as the last entry. */
export const fatalLine = (message: string): string =>
  withoutSecrets(jsonLine({ at: new Date(), level: "error", message, fields: {}, cause: undefined }))

const prettyLine = ({ at, cause, fields, level, message }: LogEntry): string => {
  const time = at.toTimeString().slice(0, 8)
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${printableLine(typeof value === "string" ? value : JSON.stringify(value, plain))}`).join("")
  return `${time} ${level.padEnd(5)} ${message}${rest}${cause === undefined ? "" : `\n         ${printable(cause).replaceAll("\n", "\n         ")}`}`
}
