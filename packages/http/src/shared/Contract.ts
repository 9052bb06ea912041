/**
 * An area's endpoints as data: paths, parameters, bodies and responses. Routing, request parsing and the OpenAPI
 * document derive from it, so they cannot differ.
 *
 * A contract describes and does not validate. Its schemas are core's, and core's use cases decode with them, so each
 * rule exists once and also holds for callers without HTTP.
 */
import type { PortalGrant, Principal } from "@waybill/core"
import type { Effect, Schema, Stream } from "effect"
import type { HttpServerResponse } from "effect/http"
import { type ProblemShape, problemDetails } from "./ProblemDetails.ts"
import type { Failure } from "./ProblemOf.ts"
import type { QueryOf, QueryParameters } from "./QueryText.ts"
import type { Refused } from "./Refused.ts"
import type { Site } from "./Site.ts"

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

/**
 * Who may call. `public`: everyone. `anonymous`: everyone, for a tenant; credentials are used if present. `caller`:
 * with credentials. `portal`: with credentials of a customer, or with the token of a portal link, which no other call
 * accepts. `operator`: operators only.
 */
export type Access = "public" | "anonymous" | "caller" | "portal" | "operator"

/** The caller of a public lookup. */
export interface AnonymousCaller {
  readonly tenantId: string
  /** Key that lookups are counted by: the caller's, or the address of the call. */
  readonly client: string
  /** The caller, if it sent credentials: its own freight is not counted. */
  readonly principal: Principal | undefined
}

export interface BodySpec {
  readonly schema: Schema.Top
  /** Accepted media types; the first is the one to send. `application/json` also accepts `application/*+json`. */
  readonly contentTypes?: ReadonlyArray<string>
  readonly maxBytes?: number
  /**
   * The member with the items of the call. Items are parsed and validated one by one, including their depth. A single
   * item, or a list at the top level, is accepted in place of the object.
   */
  readonly items?: string
  /** A member that may be left out may also be `null`. */
  readonly nullIsMissing?: boolean
  /** An absent body is read as `{}`. */
  readonly optional?: boolean
  /** Refuses members that the schema does not define. */
  readonly closed?: boolean
  /** The handler reads the body in chunks, because it may be too large for memory. */
  readonly streamed?: boolean
}

export interface AnswerSpec {
  readonly description: string
  readonly schema?: Schema.Top
  readonly closed?: boolean
  readonly contentType?: string
  /** Response headers and their descriptions. */
  readonly headers?: Readonly<Record<string, HeaderSpec>>
}

export interface HeaderSpec {
  readonly description: string
  readonly schema: Schema.Top
}

/** The audit log entry of a call. */
export interface AuditSpec {
  /** Stable name, such as `api-key.create`. */
  readonly action: string
  /** Kind of the object, such as `api-key`. */
  readonly object: string
  /** The path parameter with the object's id, or the member of the JSON response. Absent when a call concerns several objects. */
  readonly id?: string
}

export interface EndpointSpec {
  readonly method: Method
  /** Below the contract's base; `{name}` matches one segment. */
  readonly path: string
  readonly access: Access
  /** Returns delivery bodies, which read-only operators may not read. They may also use no method but GET. */
  readonly showsBodies?: true
  /** The answer may have megabytes, which the handler holds while it waits for further reads. A client gets a few of them at a time. */
  readonly largeAnswer?: true
  readonly summary: string
  readonly description?: string
  readonly query?: QueryParameters
  /** Request headers of this call, besides those of every call. */
  readonly headers?: Readonly<Record<string, HeaderSpec>>
  readonly body?: BodySpec
  /** Successful responses by status. */
  readonly answers: Readonly<Record<number, AnswerSpec>>
  /** Meaning of each refusal of this call, by status. `refusalsOf` adds the statuses of every call of its kind. */
  readonly refusals?: Readonly<Record<number, string>>
  /** The call is recorded in the audit log: every write of operators and intake, and every read of a delivery body. */
  readonly audit?: AuditSpec
}

/** A webhook, described for its receiver. */
export interface WebhookSpec {
  readonly summary: string
  readonly description: string
  readonly headers: Readonly<Record<string, HeaderSpec & { readonly required: boolean }>>
  /** The schema, or several schemas if exactly one matches. */
  readonly body: Schema.Top | ReadonlyArray<Schema.Top>
  readonly answers: Readonly<Record<string, AnswerSpec>>
}

export interface ParamSpec {
  readonly description: string
  /** The refusal with 404: what the parameter names does not exist. Of every call whose last parameter it is. */
  readonly missing?: string
}

/** The calls of an area: what is published in OpenAPI and checked in requests. */
export interface ContractSpec {
  /** The folder name of the area. */
  readonly area: string
  readonly title: string
  readonly description: string
  /** The path parameters, by their names in the paths of the endpoints. */
  readonly params?: Readonly<Record<string, ParamSpec>>
  readonly endpoints: Readonly<Record<string, EndpointSpec>>
  readonly webhooks?: Readonly<Record<string, WebhookSpec>>
  readonly shape?: ProblemShape
  /** Statuses of failures that differ from the rest of the service. */
  readonly statuses?: Readonly<Partial<Record<Failure["_tag"], number>>>
}

interface EndpointDraft extends Omit<EndpointSpec, "access" | "method" | "path"> {
  /** Method and path. */
  readonly route: `${Method} /${string}`
  /** Default: that of the contract. */
  readonly access?: Access
  /** What the last parameter names need not exist: the call creates it. */
  readonly creates?: true
}

/** A contract as it is written. */
interface ContractDraft extends Omit<ContractSpec, "endpoints"> {
  readonly access: Access
  readonly endpoints: Readonly<Record<string, EndpointDraft>>
}

type Routed<Route> = Route extends `${infer M extends Method} ${infer Path}` ? { readonly method: M; readonly path: Path } : never

type Contracted<C extends ContractDraft> = Omit<C, "endpoints"> & {
  readonly endpoints: {
    readonly [Name in keyof C["endpoints"]]: Omit<C["endpoints"][Name], "route" | "creates"> & Routed<C["endpoints"][Name]["route"]> & {
      readonly access: C["endpoints"][Name] extends { readonly access: infer A } ? A : C["access"]
    }
  }
}

/** Keeps `area` and the endpoint names and paths as literal types, which handlers are checked against. */
export const contract = <const C extends ContractDraft>(spec: C): Contracted<C> => {
  const endpoints = Object.entries(spec.endpoints).map(([name, { creates, route, ...endpoint }]) => {
    const [method, path] = route.split(" ") as [Method, string]
    const last = pathParamsOf(path).at(creates ? -2 : -1)
    const missing = last === undefined ? undefined : spec.params?.[last]?.missing
    const refusals = { ...(missing === undefined ? {} : { 404: missing }), ...endpoint.refusals }
    return [name, { access: spec.access, method, path, ...endpoint, refusals }]
  })
  return { ...spec, endpoints: Object.fromEntries(endpoints) } as unknown as Contracted<C>
}

/** The names between braces. */
export const pathParamsOf = (path: string): ReadonlyArray<string> => [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name!)

export const shapeOf = (spec: ContractSpec): ProblemShape => spec.shape ?? problemDetails

type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [Key in Name]: string } & PathParams<Rest>
  : unknown

/** A parsed request. */
interface CallOf<E extends EndpointSpec> {
  readonly principal: E["access"] extends "public" | "anonymous" ? undefined : Principal
  readonly anonymous: E["access"] extends "anonymous" ? AnonymousCaller : undefined
  /** The portal link of the call, if it has one. */
  readonly link: E["access"] extends "portal" ? PortalGrant | undefined : undefined
  readonly params: PathParams<E["path"]>
  readonly query: E["query"] extends QueryParameters ? QueryOf<E["query"]> : Readonly<Record<string, never>>
  readonly headers: { readonly [Name in keyof E["headers"]]: string | undefined }
  /** The JSON of the request, or its bytes. Core's use cases validate it: this is the type that they accept. */
  readonly body: E["body"] extends { readonly streamed: true } ? IncomingBody : E["body"] extends BodySpec ? E["body"]["schema"]["Encoded"] : unknown
  readonly site: Site
}

/** A body as it arrives: unparsed chunks of a few dozen kilobytes. */
export type IncomingBody = Stream.Stream<Uint8Array, Refused>

/** A handler for every call of a contract. */
export type HandlersOf<C extends ContractSpec> = {
  readonly [Name in keyof C["endpoints"]]: (
    call: CallOf<C["endpoints"][Name]>
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, Failure>
}

/** A handler without its types, for the request pipeline. */
export type Handler = (call: {
  readonly principal: Principal | undefined
  readonly anonymous: AnonymousCaller | undefined
  readonly link: PortalGrant | undefined
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: unknown
  readonly site: Site
}) => Effect.Effect<HttpServerResponse.HttpServerResponse, Failure>

/** A contract and its mount path. */
export interface PlacedContract {
  readonly contract: ContractSpec
  /** `""` or a path without a trailing slash. */
  readonly base: string
}

/** A mounted contract with its handlers. */
export interface MountedContract extends PlacedContract {
  readonly handlers: Readonly<Record<string, Handler>>
}

/** Mounts an area at its base path. */
export const mount = <const C extends ContractSpec>(spec: C, base: string, handlers: HandlersOf<C>): MountedContract => ({
  contract: spec,
  base: normalBase(base),
  handlers: handlers as unknown as Readonly<Record<string, Handler>>
})

/** Normalizes slashes: `/visibility`. */
export const normalBase = (base: string): string => {
  const parts = base.split("/").filter((part) => part !== "")
  for (const part of parts) {
    if (!/^[A-Za-z0-9._~-]+$/.test(part) || part === "." || part === "..") {
      throw new RangeError(`A base path has plain segments, such as /visibility; this one is ${JSON.stringify(base)}.`)
    }
  }
  return parts.map((part) => `/${part}`).join("")
}
