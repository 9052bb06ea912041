/** Who is looking: the operator's key of this tab, and the calls it opens. */
import { WaybillCallFailed, WaybillProblem } from "@waybill/client/connection"
import { OperatorClient } from "@waybill/client/operator"

const keyName = "waybill.operator-key"

/** What is kept is kept by this tab, and ends with it. */
export const keptKey = (): string | undefined => {
  try {
    return sessionStorage.getItem(keyName) ?? undefined
  } catch {
    return undefined
  }
}

/** Where storage is switched off, the key lasts until the page is loaded anew. */
export const keepKey = (key: string | undefined): void => {
  try {
    if (key === undefined) sessionStorage.removeItem(keyName)
    else sessionStorage.setItem(keyName, key)
  } catch {
    // nothing to remove there either
  }
}

let clockDifference = 0

/** By the server's clock, as far as its answers tell it: a laptop's may be wrong. */
export const serverNow = (): number => Date.now() + clockDifference

const timed = async (url: string, init: RequestInit): Promise<Response> => {
  const response = await fetch(url, { ...init, cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer" })
  const told = Date.parse(response.headers.get("date") ?? "")
  // the header tells seconds
  if (!Number.isNaN(told) && Math.abs(told - Date.now()) > 5_000) clockDifference = told - Date.now()
  else clockDifference = 0
  return response
}

/** The server is where the page came from: one step above `dashboard/`, also below a path of a proxy's. */
export const clientWith = (apiKey: string): OperatorClient =>
  new OperatorClient({ baseUrl: new URL("../", location.href.replace(/[?#].*/s, "")), apiKey, fetch: timed, retry: false, timeoutMillis: 20_000 })

/** What was refused is the key itself. A read-only key is refused single calls, and their sentence says so. */
export const isKeyRefused = (failure: unknown): boolean =>
  failure instanceof WaybillProblem && (failure.status === 401 || failure.status === 403) && failure.code !== "operator_read_only"

export const isNotFound = (failure: unknown): boolean => failure instanceof WaybillProblem && failure.status === 404

/** In a sentence or two; it may quote what others sent. */
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
        return "What answered is not this server. Is a proxy in between?"
    }
  }
  return failure instanceof Error ? failure.message : String(failure)
}
