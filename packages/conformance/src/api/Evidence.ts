/** Calls, answers and deliveries as text for reports, without secrets. */
import type { Post } from "./Callback.ts"
import type { Exchange } from "./ApiCaller.ts"

const maxBodyLength = 2_000

const shortened = (text: string): string => text.length > maxBodyLength ? `${text.slice(0, maxBodyLength)}… (${text.length} characters)` : text

/** Headers that hold a secret, or say nothing about the result. */
const hiddenHeaders = new Set(["x-api-key", "authorization", "cookie", "set-cookie", "connection", "keep-alive"])

const headerLines = (headers: Iterable<readonly [string, string | ReadonlyArray<string> | undefined]>): string =>
  Array.from(headers).filter(([name]) => !hiddenHeaders.has(name.toLowerCase())).slice(0, 40).map(([name, value]) => `${name}: ${shortened(String(value))}`).join("\n")

export const requestText = ({ caller, method, sent, url }: Exchange): string =>
  `${method} ${url}\n(called as ${caller})${sent === undefined ? "" : `\n\n${shortened(sent)}`}`

export const answerText = ({ headers, status, text }: Exchange): string => `${status}\n${headerLines(headers)}${text === "" ? "" : `\n\n${shortened(text)}`}`

export const deliveryText = ({ body, headers, method }: Post): string =>
  `delivery: ${method}\n${headerLines(Object.entries(headers))}\n\n${shortened(Buffer.from(body.subarray(0, maxBodyLength + 1)).toString("utf8"))}`

/** Replaces every secret. */
export const redactor = (secrets: ReadonlyArray<string>): (text: string) => string => {
  const known = secrets.flatMap((secret) => secret.startsWith("whsec_") ? [secret, secret.slice(6)] : [secret]).filter((secret) => secret !== "")
  return (text) => known.reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), text)
}
