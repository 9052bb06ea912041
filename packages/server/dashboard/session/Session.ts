/** The session: the operator key of this tab, and the API client with it. */
import { WaybillCallFailed, WaybillProblem } from "@waybill/client/connection"
import { OperatorClient } from "@waybill/client/operator"

const keyName = "waybill.operator-key"

/** The key is stored for this tab and removed with it. */
export const storedKey = (): string | undefined => {
  try {
    return sessionStorage.getItem(keyName) ?? undefined
  } catch {
    return undefined
  }
}

/** Without storage, the key lasts until the page is reloaded. */
export const storeKey = (key: string | undefined): void => {
  try {
    if (key === undefined) sessionStorage.removeItem(keyName)
    else sessionStorage.setItem(keyName, key)
  } catch {
    // Without storage there is nothing to remove either.
  }
}

let clockDifference = 0

/** The time of the server, from its responses, because the local clock may be wrong. */
export const serverNow = (): number => Date.now() + clockDifference

const timed = async (url: string, init: RequestInit): Promise<Response> => {
  const response = await fetch(url, { ...init, cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer" })
  const date = Date.parse(response.headers.get("date") ?? "")
  // The header has a precision of seconds.
  if (!Number.isNaN(date) && Math.abs(date - Date.now()) > 5_000) clockDifference = date - Date.now()
  else clockDifference = 0
  return response
}

/** The server is the origin of the page, one level above `dashboard/`, also behind a proxy with a path prefix. */
export const clientWith = (apiKey: string): OperatorClient =>
  new OperatorClient({ baseUrl: new URL("../", location.href.replace(/[?#].*/s, "")), apiKey, fetch: timed, retry: false, timeoutMillis: 20_000 })

/** Whether the key itself was refused. A read-only key is refused for single calls, with a message that says so. */
export const isKeyRefused = (failure: unknown): boolean =>
  failure instanceof WaybillProblem && (failure.status === 401 || failure.status === 403) && failure.code !== "operator_read_only"

export const isNotFound = (failure: unknown): boolean => failure instanceof WaybillProblem && failure.status === 404

/** An error message of one or two sentences; it may quote external text. */
export const sentenceOf = (failure: unknown): string => {
  if (failure instanceof WaybillProblem) {
    const faults = failure.errors.map(({ detail }) => detail)
    return faults.length > 0 ? faults.join(" ") : failure.detail ?? failure.title
  }
  if (failure instanceof WaybillCallFailed) {
    switch (failure.reason) {
      case "network":
        return "The server cannot be reached."
      case "timeout":
        return "The server did not answer in time."
      default:
        return "The response is not from Waybill. Check for a proxy in between."
    }
  }
  return failure instanceof Error ? failure.message : String(failure)
}
