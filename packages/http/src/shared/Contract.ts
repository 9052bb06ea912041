/**
 * An area's calls as data: paths, parameters, bodies and answers. Routing, the reading of requests and the OpenAPI document
 * all come from it, so they cannot say different things.
 *
 * A contract describes; it does not validate. The schemas in it are core's own, and core's use cases decode by them, so
 * a rule stands in one place and holds for callers who use no HTTP as well.
 */
import type { Principal } from "@waybill/core"
import type { Effect, Schema, Stream } from "effect"
import type { HttpServerResponse } from "effect/http"
import { type ProblemShape, problemDetails } from "./ProblemDetails.ts"
import type { Failure } from "./ProblemOf.ts"
import type { QueryOf, QueryParameters } from "./QueryText.ts"
import type { Refused } from "./Refused.ts"
import type { Site } from "./Site.ts"

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/** Who may call: anybody, anybody of some tenant (credentials that are sent count), whoever has credentials, or operators. */
export type Access = "public" | "anonymous" | "caller" | "operator"

/** Who looks something up that anybody may see. */
export interface AnonymousCaller {
  readonly tenantId: string
  /** Whose allowance pays: the caller's, or that of the address the call came from. */
  readonly client: string
  /** Who it is, where credentials were sent: its own freight is not counted. */
  readonly principal: Principal | undefined
}

export interface BodySpec {
  readonly schema: Schema.Top
  /** Accepted media types, the first being the one to send. `application/json` also admits `application/*+json`. */
  readonly contentTypes?: ReadonlyArray<string>
  readonly maxBytes?: number
  /**
   * The member that holds the call's items. They are parsed one by one and each is judged for itself, its depth too. One item, or a
   * list at the top, stands for the member.
   */
  readonly items?: string
  /** An absent body is `{}`. */
  readonly optional?: boolean
  /** Refuses members that the schema does not name. */
  readonly closed?: boolean
  /** The call reads it itself, piece by piece, because it may be too large to be in memory. */
  readonly streamed?: boolean
}

export interface AnswerSpec {
  readonly description: string
  readonly schema?: Schema.Top
  readonly closed?: boolean
  readonly contentType?: string
  /** Header names with what they tell. */
  readonly headers?: Readonly<Record<string, HeaderSpec>>
}

export interface HeaderSpec {
  readonly description: string
  readonly schema: Schema.Top
}

/** What the audit log says of a call. */
export interface AuditSpec {
  /** A stable word, such as `api-key.create`. */
  readonly action: string
  /** What the object is, such as `api-key`. */
  readonly object: string
  /** The path parameter that names the object; else the member of the JSON answer that does. Left out where a call concerns several. */
  readonly id?: string
}

export interface EndpointSpec {
  readonly method: Method
  /** Below the contract's base; `{name}` stands for one segment. */
  readonly path: string
  readonly access: Access
  /** Answers bodies of deliveries, which read-only operators are refused. Every method but GET is refused them as well. */
  readonly showsBodies?: true
  readonly summary: string
  readonly description?: string
  /** What each path parameter is. */
  readonly params?: Readonly<Record<string, string>>
  readonly query?: QueryParameters
  /** Request headers that the call takes, beside those that every call does. */
  readonly headers?: Readonly<Record<string, HeaderSpec>>
  readonly body?: BodySpec
  readonly answers: Readonly<Record<number, AnswerSpec>>
  /** Calls that are recorded in the audit log: every write of operators and intake, and every read of a delivery's body. */
  readonly audit?: AuditSpec
}

/** A call that goes out from here, described for whoever receives it. */
export interface WebhookSpec {
  readonly summary: string
  readonly description: string
  readonly headers: Readonly<Record<string, HeaderSpec & { readonly required: boolean }>>
  /** Its shape, or several of which it has exactly one. */
  readonly body: Schema.Top | ReadonlyArray<Schema.Top>
  readonly answers: Readonly<Record<string, AnswerSpec>>
}

export interface ContractSpec {
  /** The area's folder word. */
  readonly area: string
  readonly title: string
  readonly description: string
  readonly endpoints: Readonly<Record<string, EndpointSpec>>
  readonly webhooks?: Readonly<Record<string, WebhookSpec>>
  readonly shape?: ProblemShape
  /** Where the area answers a failure with another status than the rest of the service. */
  readonly statuses?: Readonly<Partial<Record<Failure["_tag"], number>>>
}

/** `area` and the names and paths of the endpoints are kept as literal types; handlers are checked against them. */
export const contract = <const C extends ContractSpec>(spec: C): C => spec

export const shapeOf = (spec: ContractSpec): ProblemShape => spec.shape ?? problemDetails

/** The names between braces. */
export type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name]: string } & PathParams<Rest>
  : unknown

/** One request, read. */
export interface CallOf<E extends EndpointSpec> {
  readonly principal: E["access"] extends "public" | "anonymous" ? undefined : Principal
  readonly anonymous: E["access"] extends "anonymous" ? AnonymousCaller : undefined
  readonly params: PathParams<E["path"]>
  readonly query: E["query"] extends QueryParameters ? QueryOf<E["query"]> : Readonly<Record<string, never>>
  readonly headers: { readonly [Name in keyof E["headers"]]: string | undefined }
  /** JSON, for calls that take a body. */
  readonly body: E["body"] extends { readonly streamed: true } ? IncomingBody : unknown
  readonly site: Site
}

/** A body as it arrives: in pieces of a few dozen kilobytes, nothing of them known yet. */
export type IncomingBody = Stream.Stream<Uint8Array, Refused>

export type HandlersOf<C extends ContractSpec> = {
  readonly [Name in keyof C["endpoints"]]: (
    call: CallOf<C["endpoints"][Name]>
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, Failure>
}

/** The same without types, for the pipeline that calls it. */
export type Handler = (call: {
  readonly principal: Principal | undefined
  readonly anonymous: AnonymousCaller | undefined
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: unknown
  readonly site: Site
}) => Effect.Effect<HttpServerResponse.HttpServerResponse, Failure>

/** A contract and where it is mounted. */
export interface PlacedContract {
  readonly contract: ContractSpec
  /** `""` or a path without a slash at its end. */
  readonly base: string
}

/** The same, and who answers it. */
export interface MountedContract extends PlacedContract {
  readonly handlers: Readonly<Record<string, Handler>>
}

/** Puts an area under its base. */
export const mount = <const C extends ContractSpec>(spec: C, base: string, handlers: HandlersOf<C>): MountedContract => ({
  contract: spec,
  base: normalBase(base),
  handlers: handlers as unknown as Readonly<Record<string, Handler>>
})

/** `/visibility`, whatever slashes it came with. */
export const normalBase = (base: string): string => {
  const parts = base.split("/").filter((part) => part !== "")
  for (const part of parts) {
    if (!/^[A-Za-z0-9._~-]+$/.test(part) || part === "." || part === "..") {
      throw new RangeError(`A base path has plain segments, such as /visibility; this one is ${JSON.stringify(base)}.`)
    }
  }
  return parts.map((part) => `/${part}`).join("")
}
