/** The connection of a page to its server: requests, the clock, and what failures mean. */
import { WaybillCallFailed, WaybillProblem } from "@waybill/client/connection"

/** Unknown before the first response. */
let clockDifference: number | undefined

/** The time of the server, from its responses, because the local clock may be wrong. */
export const serverNow = (): number => Date.now() + (clockDifference ?? 0)

/** Asks about the server's time. The first question of a page is asked again if only its response tells that the local clock is wrong. */
export const askAtServerTime = async <A>(ask: (nowMillis: number) => Promise<A>): Promise<A> => {
  const isKnown = clockDifference !== undefined
  const asked = ask(serverNow())
  if (isKnown) return asked
  await asked.catch(() => {})
  return clockDifference ? ask(serverNow()) : asked
}

/** `credentials`: whether the browser sends the cookies of the page's origin. */
const timed = (credentials: "omit" | "same-origin") => async (url: string, init: RequestInit): Promise<Response> => {
  const response = await fetch(url, { ...init, cache: "no-store", credentials, referrerPolicy: "no-referrer" })
  const date = Date.parse(response.headers.get("date") ?? "")
  // The header has a precision of seconds.
  if (!Number.isNaN(date) && Math.abs(date - Date.now()) > 5_000) clockDifference = date - Date.now()
  else clockDifference = 0
  return response
}

/** Options of every client. `place` is relative to the page's folder, so that it is also right behind a proxy with a path prefix. */
export const connectionOf = (place: "./" | "../", credentials: "omit" | "same-origin") =>
  ({ baseUrl: new URL(place, location.href.replace(/[?#].*/s, "")), fetch: timed(credentials), retry: false, timeoutMillis: 20_000 }) as const

/** Whether the key itself was refused. A read-only key is refused for single calls, with a message that says so; a 403 without a code comes from a proxy. */
export const isKeyRefused = (failure: unknown): boolean =>
  failure instanceof WaybillProblem && (failure.status === 401 || (failure.status === 403 && failure.code !== "" && failure.code !== "operator_read_only"))

export const isNotFound = (failure: unknown): boolean => failure instanceof WaybillProblem && failure.status === 404

/** Whether no response came. */
export const isUnreachable = (failure: unknown): boolean => failure instanceof WaybillCallFailed && (failure.reason === "network" || failure.reason === "timeout")

/** Whether an action may have been done although it failed here. */
export const isUncertain = (failure: unknown): boolean => failure instanceof WaybillCallFailed || failure instanceof TypeError || (failure instanceof WaybillProblem && failure.status >= 500)

/** A text that a response has to have. */
export const textIn = (value: unknown): string => {
  if (typeof value === "string") return value
  throw new TypeError("The response has no such text.")
}

export const notUnderstood = "The server sent a response that this page does not understand. Reload the page: the server may have been updated."

/** An error message of one or two sentences; it may quote external text. */
export const sentenceOf = (failure: unknown): string => {
  if (failure instanceof WaybillProblem) {
    const faults = failure.errors.map(({ detail }) => detail)
    if (failure.code === "" && failure.detail === undefined) return `The server answered ${failure.status}, without a message from Waybill. Check for a proxy in between.`
    return faults.length > 0 ? faults.join(" ") : failure.detail ?? failure.title
  }
  if (failure instanceof WaybillCallFailed) {
    switch (failure.reason) {
      case "network":
        return "The server cannot be reached. Check that it runs, and the network in between."
      case "timeout":
        return "The server did not answer in time. Check its load and its database."
      default:
        return "The response is not from Waybill. Check for a proxy in between."
    }
  }
  if (failure instanceof TypeError) return notUnderstood
  return failure instanceof Error ? failure.message : String(failure)
}
