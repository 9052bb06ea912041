/** Responses to deliveries. Errors use the error body of area D. */
import { DeliveryRefused, RawBodyNeeded } from "./DeliveryRefused.ts"

/** An HTTP response for runtimes without `Response`. */
export interface DeliveryAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** JSON text, or empty. */
  readonly body: string
}

/** The response to a delivery that was refused, or whose handler failed. */
export const answerTo = (error: unknown): DeliveryAnswer => {
  if (error instanceof DeliveryRefused) return problem(error.status, error.reason, error.message)
  if (error instanceof RawBodyNeeded) return problem(500, "raw_body_needed", error.message)
  return problem(500, "receiver_failed", "The receiver could not handle the delivery. Send it again.")
}

const titles: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  405: "Method Not Allowed",
  413: "Content Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable"
}

const problem = (status: number, code: string, detail: string): DeliveryAnswer => ({
  status,
  headers: {
    "content-type": "application/problem+json",
    ...(status === 503 ? { "retry-after": "1" } : {}),
    ...(status === 405 ? { allow: "POST" } : {})
  },
  body: JSON.stringify({ status, title: titles[status], detail, code })
})
