/** Checks the logs: readable lines, no stack traces, no secrets, no flood. */
import { readFileSync } from "node:fs"
import type { Violated } from "./Rules.ts"
import type { ServerProcess } from "./ServerProcess.ts"

interface Line {
  readonly time: string
  readonly level: string
  readonly message: string
  readonly cause?: string
  /** Set for entries about a request: each request has a line. */
  readonly correlationId?: string
}

export interface LogFindings {
  readonly lines: number
  readonly byLevel: Readonly<Record<string, number>>
  /** Warnings and errors with their counts, the most frequent first. */
  readonly trouble: ReadonlyArray<readonly [string, number]>
}

/** Maximum number of warnings and errors per process in any ten seconds, besides those of requests. */
const mostTroublePerTenSeconds = 50

export const readLogs = (
  processes: ReadonlyArray<ServerProcess>,
  secrets: ReadonlyArray<string>,
  violated: Violated
): LogFindings => {
  let lines = 0
  const byLevel: Record<string, number> = {}
  const trouble = new Map<string, number>()
  for (const { logFile } of processes) {
    const text = readFileSync(logFile, "utf8")
    for (const secret of secrets) if (text.includes(secret) || text.includes(encodeURIComponent(secret))) violated("no secret is logged", logFile)
    const times: Array<number> = []
    const rows = text.split("\n")
    // A killed process may have stopped in the middle of a line.
    rows.pop()
    for (const row of rows) {
      const line = read(row)
      if (/unhandled|uncaught/i.test(row)) violated("no error is unhandled", `${logFile}: ${row.slice(0, 300)}`)
      if (line === undefined) {
        // The banner for people at the start.
        if (/\bat .*:\d+:\d+\)?$|Error:|throw /.test(row)) violated("every log line is a structured entry", `${logFile}: ${row.slice(0, 300)}`)
        continue
      }
      lines += 1
      byLevel[line.level] = (byLevel[line.level] ?? 0) + 1
      if (/\n\s+at /.test(line.cause ?? line.message)) violated("no expected failure is logged with a stack trace", `${logFile}: ${row.slice(0, 300)}`)
      if (line.level !== "warn" && line.level !== "warning" && line.level !== "error") continue
      if (line.correlationId === undefined) times.push(Date.parse(line.time))
      const said = `${line.level}: ${line.message}${line.cause === undefined ? "" : ` (${line.cause.replaceAll(/\d+/g, "#").slice(0, 160)})`}`
      trouble.set(said, (trouble.get(said) ?? 0) + 1)
    }
    for (let from = 0, to = 0; to < times.length; to++) {
      while (times[to]! - times[from]! > 10_000) from++
      if (to - from + 1 > mostTroublePerTenSeconds) {
        violated("log volume is bounded", `${logFile} at ${new Date(times[to]!).toISOString()}`)
        break
      }
    }
  }
  return { lines, byLevel, trouble: [...trouble].sort(([, a], [, b]) => b - a) }
}

const read = (row: string): Line | undefined => {
  if (!row.startsWith("{")) return undefined
  try {
    return JSON.parse(row) as Line
  } catch {
    return undefined
  }
}
