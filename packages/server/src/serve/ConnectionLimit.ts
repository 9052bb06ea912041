/**
 * Limits the open connections of a listener. Without a limit, callers without credentials could take every file descriptor of the process, which
 * also needs them for the database and for receivers.
 */
import { Context, Effect, Scope } from "effect"
import { readFileSync } from "node:fs"
import type { Server } from "node:http"

/** Above any real number of callers of one process, in bounded memory. */
const mostConnections = 10_000

/** Connections of customers, and of operators on a port of their own. The rest is for the database, receivers and files. */
export const shareOfFiles = { customers: 1 / 2, operators: 1 / 10 } as const

/** Half of the connections may have no request yet: at least one. */
const fewestConnections = 2

/** How many connections a listener accepts with this share of the open files that the system allows. */
export const connectionsFor = (share: number, openFiles: number | undefined = allowedOpenFiles()): number =>
  openFiles === undefined ? mostConnections : Math.max(fewestConnections, Math.min(mostConnections, Math.floor(openFiles * share)))

/** `undefined` where there is no limit, and where the system does not tell it in a file. */
const allowedOpenFiles = (): number | undefined => {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1]
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}

const logMillis = 60_000

/** Refuses connections beyond `most`. Logs the first refusal at once, and the number of further ones once a minute, until the scope ends. */
export const limitConnections = (server: Server, most: number): Effect.Effect<void, never, Scope.Scope> =>
  Effect.contextWith((context: Context.Context<Scope.Scope>) => {
    const fork = Effect.runForkWith(context)
    let refused = 0
    let isLogging = false
    const log = Effect.suspend(() => {
      const count = refused
      refused = 0
      return Effect.logWarning(`HTTP connections refused: ${most} are open, which is the limit of this process.`).pipe(Effect.annotateLogs({ refused: count }))
    })
    const logUntilQuiet = Effect.whileLoop({
      while: () => refused > 0,
      body: () => Effect.andThen(log, Effect.sleep(logMillis)),
      step: () => undefined
    }).pipe(Effect.onExit(() => {
      isLogging = false
      return refused > 0 ? log : Effect.void
    }))
    server.maxConnections = most
    server.on("drop", () => {
      refused += 1
      if (isLogging) return
      isLogging = true
      fork(Effect.forkIn(logUntilQuiet, Context.get(context, Scope.Scope), { startImmediately: true }))
    })
    return Effect.void
  })
