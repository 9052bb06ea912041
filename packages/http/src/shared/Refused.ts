/** Errors of HTTP itself, outside of any use case. */
import { pointer } from "@waybill/core"
import { Data } from "effect"
import type { Problem, ProblemFault } from "./ProblemDetails.ts"

export class Refused extends Data.TaggedError("Refused")<{ readonly problem: Problem }> {
  override get message(): string {
    return this.problem.detail
  }
}

const refused = <const Code extends string>(
  status: number,
  code: Code,
  title: string,
  detail: string,
  more: { readonly errors?: ReadonlyArray<ProblemFault>; readonly headers?: Readonly<Record<string, string>> } = {}
) => new Refused({ problem: { status, code, title, detail, ...more } }) as Refused & { readonly problem: Problem<Code> }

export const unknownPath = refused(404, "path_not_found", "Not found", "There is no call at this path. See openapi.json of this service.")

export const unreadablePath = refused(400, "invalid_path", "Bad request", "The path is not percent-encoded UTF-8.")

export const unknownPublicTenant = refused(
  404,
  "tenant_not_found",
  "Not found",
  "The tenant of this request is unknown. Use the carrier's own host name, or send credentials."
)

export const hostMissing = refused(400, "host_missing", "Bad request", "The request has no Host header.", { headers: { connection: "close" } })

export const expectationFailed = refused(417, "expectation_failed", "Expectation failed", "The only expectation that is met is 100-continue.", {
  headers: { connection: "close" }
})

/** Node reads a body in chunks and leaves other codings to the program, which would read compressed bytes as they are. */
export const wrongTransferCoding = refused(501, "transfer_coding_not_supported", "Not implemented", "The only transfer coding that is read is chunked.", {
  headers: { connection: "close" }
})

export const severalHosts = refused(
  400,
  "ambiguous_host",
  "Bad request",
  "The request names more than one host. Send one Host header that agrees with the address."
)

export const crossSiteWrite = refused(
  403,
  "cross_site",
  "Forbidden",
  "A page of another site sent this request. Use the portal's own page, or send credentials in a header."
)

export const methodNotAllowed = (method: string, allow: string) =>
  refused(405, "method_not_allowed", "Method not allowed", `This path does not take ${method.slice(0, 20)}. It takes ${allow}.`, {
    headers: { allow }
  })

/** Maximum length of path and query in characters. Longer than any page link of this service. */
export const maxTargetLength = 8192

export const targetTooLong = refused(
  414,
  "uri_too_long",
  "URI too long",
  `Path and query have at most ${maxTargetLength} characters.`,
  { headers: { connection: "close" } }
)

export const badQuery = (errors: ReadonlyArray<ProblemFault>) =>
  refused(400, "invalid_input", "Bad request", errors.length === 1 ? errors[0]!.detail : "Several query parameters cannot be used. See errors.", { errors })

export const bodyTooLarge = (maxBytes: number) =>
  refused(413, "body_too_large", "Content too large", `The body of this call has at most ${maxBytes} bytes. Send several calls.`)

export const bodyTooSlow = refused(408, "body_too_slow", "Request timeout", "The body did not arrive in time. Send the call again.", {
  headers: { connection: "close" }
})

export const bodyBroken = refused(400, "body_incomplete", "Bad request", "The body broke off before its end.")

export const bodyMissing = refused(400, "invalid_input", "Bad request", "This call needs a JSON body.", {
  errors: [{ detail: "This call needs a JSON body.", pointer: "", code: "required" }]
})

export const bodyNotUtf8 = refused(400, "invalid_json", "Bad request", "The body is not UTF-8.", {
  errors: [{ detail: "The body is not UTF-8.", pointer: "", code: "invalid" }]
})

export const bodyNotJson = (position: string | undefined) => {
  const detail = position === undefined ? "The body is not JSON." : `The body is not JSON: it breaks at position ${position}.`
  return refused(400, "invalid_json", "Bad request", detail, { errors: [{ detail, pointer: "", code: "invalid" }] })
}

/** `items` is the member with the items of the call, which may also be sent as a list or alone. */
export const bodyNotObject = (call: string, items: string | undefined) => {
  const detail = items === undefined ? `${call} expects a JSON object.` : `${call} expects a JSON object: {"${items}": [ … ]}, or one item.`
  return refused(400, "invalid_input", "Bad request", detail, { errors: [{ detail, pointer: "", code: "invalid" }] })
}

export const bodyTooDeep = (depth: number) => bodyBeyond([], `The body nests deeper than ${depth} levels.`)

/** A limit that was exceeded before decoding; `path` is the location. */
export const bodyBeyond = (path: ReadonlyArray<PropertyKey>, detail: string) =>
  refused(400, "invalid_input", "Bad request", detail, { errors: [{ detail, pointer: pointer(path), code: "out_of_bounds" }] })

export const itemTooLarge = (path: ReadonlyArray<PropertyKey>, maxBytes: number) => {
  const detail = `An item has at most ${maxBytes} bytes of JSON.`
  return refused(413, "body_too_large", "Content too large", detail, { errors: [{ detail, pointer: pointer(path), code: "out_of_bounds" }] })
}

export const wrongMediaType = (accepted: ReadonlyArray<string>, method: string) =>
  refused(415, "unsupported_media_type", "Unsupported media type", `Send the body as ${accepted.join(" or ")} in UTF-8.`, {
    errors: [{ detail: `Send ${accepted[0]}.`, header: "content-type", code: "invalid" }],
    headers: { [method === "PATCH" ? "accept-patch" : method === "POST" ? "accept-post" : "accept"]: accepted.join(", ") }
  })

export const wrongContentCoding = refused(
  415,
  "unsupported_content_encoding",
  "Unsupported media type",
  "Send the body without a content-encoding.",
  { errors: [{ detail: "Send the body as it is.", header: "content-encoding", code: "invalid" }], headers: { "accept-encoding": "identity" } }
)

export const stopping = refused(
  503,
  "stopping",
  "Service unavailable",
  "This process is stopping. Send the call again.",
  { headers: { "retry-after": "1", connection: "close" } }
)
