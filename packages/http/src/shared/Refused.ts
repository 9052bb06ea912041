/** Errors of HTTP itself, outside of any use case. */
import { pointer } from "@waybill/core"
import { Data } from "effect"
import { cut, type Problem, type ProblemFault } from "./ProblemDetails.ts"

export class Refused extends Data.TaggedError("Refused")<{ readonly problem: Problem }> {
  override get message(): string {
    return this.problem.detail
  }
}

const refused = <const Code extends string>(status: number, code: Code, detail: string, more: Pick<Problem, "errors" | "headers"> = {}) =>
  new Refused({ problem: { status, code, detail, ...more } }) as Refused & { readonly problem: Problem<Code> }

/** A refusal of the body; `path` is the location of the error. */
const bodyRefused = <const Code extends string>(status: number, code: Code, detail: string, error: string, path: ReadonlyArray<PropertyKey> = []) =>
  refused(status, code, detail, { errors: [{ detail, pointer: pointer(path), code: error }] })

/** Ends the connection, because what follows on it is unknown or not wanted. */
const closing = { headers: { connection: "close" } }

export const unknownPath = refused(404, "path_not_found", "There is no call at this path. See openapi.json of this service.")

/** The path ends like one of a call, so the host did not say where it mounted the service. */
export const unmountedPath = (path: string, mountPath: string) =>
  refused(404, "path_not_found", `There is no call at ${cut(path, 200)}. If the application mounts Waybill at ${mountPath}, pass it on: mountPath: ${JSON.stringify(mountPath)} in the options of toNodeHandler(waybill, …), toHonoHandler(waybill, …) or waybill.handler(request, …).`)

export const unreadablePath = refused(400, "invalid_path", "The path is not percent-encoded UTF-8.")

export const unknownPublicTenant = refused(404, "tenant_not_found", "The host of this request names no carrier. Use the carrier's own host name, or send credentials.")

export const hostMissing = refused(400, "host_missing", "The request has no Host header.", closing)

export const expectationFailed = refused(417, "expectation_failed", "The only expectation that is met is 100-continue.", closing)

/** Node reads a body in chunks and leaves other codings to the program, which would read compressed bytes as they are. */
export const wrongTransferCoding = refused(501, "transfer_coding_not_supported", "The only transfer coding that is read is chunked.", closing)

export const ambiguousHost = refused(400, "ambiguous_host", "The request does not name one host. Send one Host header that agrees with the address.")

export const crossSiteWrite = refused(403, "cross_site", "A page of another site sent this request. Send it from a page of this site, or with a key or a token in a header.")

export const methodNotAllowed = (method: string, allow: string) =>
  refused(405, "method_not_allowed", `This path does not take ${method.slice(0, 20)}. It takes ${allow}.`, { headers: { allow } })

/** Maximum length of path and query in characters. Longer than any page link of this service. */
export const maxTargetLength = 8192

export const targetTooLong = refused(414, "uri_too_long", `Path and query have at most ${maxTargetLength} characters.`, closing)

export const badQuery = (errors: ReadonlyArray<ProblemFault>) =>
  refused(400, "invalid_input", errors.length === 1 ? errors[0]!.detail : "Several query parameters cannot be used. See errors.", { errors })

export const bodyTooLarge = (maxBytes: number) => refused(413, "body_too_large", `The body of this call has at most ${maxBytes} bytes. Send several calls.`)

export const bodyTooSlow = refused(408, "body_too_slow", "The body did not arrive in time. Send the call again.", closing)

export const bodyBroken = refused(400, "body_incomplete", "The body broke off before its end.")

export const bodyMissing = bodyRefused(400, "invalid_input", "This call needs a JSON body.", "required")

export const bodyNotTaken = bodyRefused(400, "invalid_input", "This call has no body. Its options are query parameters.", "not_allowed")

export const bodyNotUtf8 = bodyRefused(400, "invalid_json", "The body is not UTF-8.", "invalid")

export const bodyNotJson = (position: string | undefined) =>
  bodyRefused(400, "invalid_json", position === undefined ? "The body is not JSON." : `The body is not JSON: it breaks at position ${position}.`, "invalid")

/** `items` is the member with the items of the call, which may also be sent as a list or alone. */
export const bodyNotObject = (call: string, items: string | undefined) =>
  bodyRefused(400, "invalid_input", items === undefined ? `${call} expects a JSON object.` : `${call} expects a JSON object: {"${items}": [ … ]}, or one item.`, "invalid")

export const bodyTooDeep = (depth: number) => bodyBeyond([], `The body nests deeper than ${depth} levels.`)

/** A limit that was exceeded before decoding; `path` is the location. */
export const bodyBeyond = (path: ReadonlyArray<PropertyKey>, detail: string) => bodyRefused(400, "invalid_input", detail, "out_of_bounds", path)

export const itemTooLarge = (path: ReadonlyArray<PropertyKey>, maxBytes: number) =>
  bodyRefused(413, "body_too_large", `An item has at most ${maxBytes} bytes of JSON.`, "out_of_bounds", path)

export const wrongMediaType = (accepted: ReadonlyArray<string>, method: string) =>
  refused(415, "unsupported_media_type", `Send the body as ${accepted.join(" or ")} in UTF-8.`, {
    errors: [{ detail: `Send ${accepted[0]}.`, header: "content-type", code: "invalid" }],
    headers: { [method === "PATCH" ? "accept-patch" : method === "POST" ? "accept-post" : "accept"]: accepted.join(", ") }
  })

export const wrongContentCoding = refused(415, "unsupported_content_encoding", "Send the body without a content-encoding.", {
  errors: [{ detail: "Send the body as it is.", header: "content-encoding", code: "invalid" }],
  headers: { "accept-encoding": "identity" }
})

export const stopping = refused(503, "stopping", "This process is stopping. Send the call again.", { headers: { "retry-after": "1", connection: "close" } })
