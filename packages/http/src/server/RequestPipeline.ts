/**
 * Processes every request: correlation id, routing, authentication, parsing, handler, response headers, metrics and
 * log. Every request gets a response in the format of its area.
 */
import { Authenticator, CallingClient, isObject, isOperator, LineLimiter, monotonicMillis, monotonicMillisUnsafe, NotPermitted, OperatorReadOnly, PortalAccess, type PortalGrant, type Principal, UniqueIds } from "@waybill/core"
import { Cause, Effect, Exit, Stream } from "effect"
import * as Clock from "effect/Clock"
import { HttpBody, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { clientAddressOf, type ClientAddressOptions, anonymousClientNamed } from "../access/ClientAddress.ts"
import { hasKeyOrToken, isCrossSiteWrite } from "../access/CrossSiteWrite.ts"
import { FailedCredentials, countedCredentials } from "../access/FailedCredentials.ts"
import { makePublicTenant } from "../access/PublicTenant.ts"
import { RefusalLog } from "../access/RefusalLog.ts"
import { AcceptsUndescribed, SecuritySchemes, type SecuritySchemesByName, withChallenge } from "../access/SecuritySchemes.ts"
import { PortalCaller } from "../portal/PortalCaller.ts"
import { makePortalTokens } from "../portal/PortalTokens.ts"
import { type ContractSpec, type EndpointSpec, type MountedContract, shapeOf, type AnonymousCaller } from "../shared/Contract.ts"
import { correlationIdOf, instanceOf } from "../shared/CorrelationId.ts"
import { httpDate } from "../shared/HttpDate.ts"
import { type Problem, problemDetails, type ProblemShape } from "../shared/ProblemDetails.ts"
import { type Failure, internalProblem, interruptedProblem, problemOf } from "../shared/ProblemOf.ts"
import { readQuery } from "../shared/QueryText.ts"
import { ambiguousHost, badQuery, bodyNotObject, crossSiteWrite, maxTargetLength, methodNotAllowed, type Refused, targetTooLong, unknownPath, unmountedPath, unreadablePath, wrongTransferCoding } from "../shared/Refused.ts"
import { readBody, refuseBody, streamBody, type TakeBytes } from "../shared/RequestBody.ts"
import { namesOneHost } from "../shared/RequestHost.ts"
import { makeRouteTable, type Route, type RouteTable } from "../shared/RouteTable.ts"
import { hostOf, MountPath, siteOf, type SiteOptions } from "../shared/Site.ts"
import { logRequest, refusalReason } from "./AccessLog.ts"
import { makeAudited } from "./Audited.ts"
import { makeClientQuotas, quotaClientOf } from "./ClientQuotas.ts"
import { makeResponseBytes } from "./ResponseBytes.ts"
import { sendTimeoutMillis, withSendTimeout } from "./SendTimeout.ts"

export interface PipelineOptions extends SiteOptions, ClientAddressOptions {
  /** Time limit for the arrival of a request's body. Default 60 seconds. */
  readonly bodyTimeoutMillis?: number | undefined
  /** Tenant of public lookups without credentials, when the requested host belongs to no tenant. */
  readonly publicTenant?: string | undefined
  /** Query parameters that every call ignores instead of refusing them; case-sensitive. A call's own parameter of that name keeps its meaning. Default: none. */
  readonly ignoredQueryParameters?: ReadonlyArray<string> | undefined
}

/** Answers any request and never fails. */
export type App = Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>

/** Information about a request, collected while it is processed. */
export interface Exchange {
  readonly correlationId: string
  readonly method: string
  /** Epoch milliseconds. */
  readonly receivedAt: number
  /** In `monotonicMillis`, for durations and rate limits. */
  readonly startedAt: number
  /** Address that refusals are counted by; `undefined` when unknown. */
  readonly address: () => string | undefined
  /** What the host's own function for the address threw. */
  addressFailure: { readonly error: unknown } | undefined
  /** Base and path with placeholders, never the values sent for them. */
  template: string
  contract: ContractSpec | undefined
  principal: Principal | undefined
  anonymous: AnonymousCaller | undefined
  link: PortalGrant | undefined
  isParameter: ((name: string) => boolean) | undefined
}

/** Creates apps from contracts. All of them share the counters of callers. */
export const makePipeline = Effect.fnUntraced(function*(options: PipelineOptions) {
  const authenticator = yield* Authenticator
  const ids = yield* UniqueIds
  const credentials = { schemes: yield* SecuritySchemes, acceptsUndescribed: yield* AcceptsUndescribed }
  const portalAccess = yield* PortalAccess
  const portalTokens = yield* makePortalTokens
  const publicTenantOf = yield* makePublicTenant(options.publicTenant)
  const failures = new FailedCredentials()
  const refusals = new RefusalLog()
  const errors = new LineLimiter()
  const quotas = yield* makeClientQuotas
  const responseBytes = makeResponseBytes()
  const audited = yield* makeAudited
  const bodyTimeoutMillis = options.bodyTimeoutMillis ?? 60_000
  const ignoredParameters = new Set(options.ignoredQueryParameters)

  const answerFrom = (table: RouteTable) => Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest, exchange: Exchange) {
    const { path, search } = targetOf(request)
    const mountPath = (yield* MountPath) ?? mountPathOf(request)
    const unusable = refusalOfHead(request, path.length + search.length)
    if (unusable !== undefined) {
      exchange.contract = table.areaOf(path)
      return yield* unusable
    }
    const found = yield* routeOf(table, request.method, path, exchange)
    if (HttpServerResponse.isHttpServerResponse(found)) return found
    const { endpoint, template } = found.route
    yield* Effect.annotateCurrentSpan("http.route", template)
    const principal = exchange.principal = yield* principalOf(request, endpoint, exchange).pipe(
      // known callers, so that what they may not write is recorded
      Effect.tapErrorTag("TenantSuspended", (error) => error.client === undefined || endpoint.audit === undefined
        ? Effect.void
        : audited({ tenantId: error.tenantId, client: error.client, roles: [] }, exchange, endpoint.audit, found.params, Effect.fail(error)))
    )
    const answer = Effect.flatMap(answerTo(request, exchange, found, { mountPath, search }), (response) => countedResponse(request, exchange, response))
    return yield* endpoint.audit === undefined || principal === undefined ? answer : audited(principal, exchange, endpoint.audit, found.params, answer)
  })

  /** What a caller reads may be refused; what it wrote is done and gets its answer. Operators have no quotas. */
  const countedResponse = ({ method }: HttpServerRequest.HttpServerRequest, { address, principal }: Exchange, response: HttpServerResponse.HttpServerResponse) => {
    if (method === "HEAD" || principal !== undefined && isOperator(principal)) return Effect.succeed(response)
    const caller = principal === undefined ? `address:${address()}` : quotaClientOf(principal).key
    return method === "GET" ? responseBytes.countedOrRefused(caller, response) : Effect.succeed(responseBytes.counted(caller, response))
  }

  /** Runs after authentication. */
  const answerTo = Effect.fnUntraced(function*(
    request: HttpServerRequest.HttpServerRequest,
    exchange: Exchange,
    { params, route }: Match,
    { mountPath, search }: { readonly mountPath: string; readonly search: string }
  ): Effect.fn.Return<HttpServerResponse.HttpServerResponse, Failure> {
    const { endpoint } = route
    const client = exchange.principal === undefined || isOperator(exchange.principal) ? undefined : quotaClientOf(exchange.principal)
    if (client !== undefined) yield* Effect.andThen(quotas.admit(client), responseBytes.admit(client.key))
    const refusal = refusalTo(exchange.principal, endpoint)
    if (refusal !== undefined) return yield* refusal
    if (endpoint.access === "anonymous") exchange.anonymous = yield* anonymousOf(request, exchange)
    // health checkers may add their own parameters
    const query = readQuery(endpoint.query ?? {}, endpoint.access === "public" ? "" : search, ignoredParameters)
    if (query.faults.length > 0) return yield* badQuery(query.faults)
    const site = siteOf(request, route.template, exchange.receivedAt, mountPath, options)
    const headers = headersOf(request, endpoint.headers)
    const handledWith = (body: unknown) => {
      const handled = route.handler({ principal: exchange.principal, anonymous: exchange.anonymous, link: exchange.link, params, query: query.values, headers, body, site })
      return client === undefined ? handled : Effect.provideService(handled, CallingClient, client.key)
    }
    const { body: spec } = endpoint
    if (spec === undefined) {
      // a delete whose list of files is ignored deletes all of them. SPEC-GAP-B34
      if (endpoint.method === "DELETE" && endpoint.query !== undefined) yield* refuseBody(request, bodyTimeoutMillis)
      const handled = handledWith(undefined)
      return yield* endpoint.largeAnswer === true && client !== undefined ? quotas.withLargeAnswer(client, Effect.andThen(responseBytes.admitLarge(client.key), handled)) : handled
    }
    if (spec.streamed === true) {
      const handled = handledWith(yield* streamBody(request, spec, bodyTimeoutMillis))
      return yield* client === undefined ? handled : quotas.withUploadSlot(client, handled)
    }
    const answered = (take?: TakeBytes) =>
      Effect.flatMap(readBody(request, spec, bodyTimeoutMillis, take), (body) =>
        isObject(body) || spec.items !== undefined && Array.isArray(body) ? handledWith(body) : Effect.fail(bodyNotObject(`${endpoint.method} ${route.template}`, spec.items)))
    return yield* client === undefined ? answered() : quotas.withBodyBytes(client, answered)
  })

  const principalOf = (
    request: HttpServerRequest.HttpServerRequest,
    { access }: EndpointSpec,
    exchange: Exchange
  ): Effect.Effect<Principal | undefined, Failure> => {
    if (access === "public") return Effect.undefined
    const { headers, method, url } = request
    const token = access === "portal" ? portalTokens.presented(headers) : undefined
    if (token !== undefined) {
      return counted(request, exchange, Effect.map(portalTokens.verify(token), ({ grant, principal }) => {
        exchange.link = grant
        return principal
      }))
    }
    return Effect.flatMap(PortalCaller, (caller) => {
      const customer = access === "portal" ? caller : undefined
      if (isBrowsers(access) && (customer !== undefined || !hasKeyOrToken(headers)) && isCrossSiteWrite(request, hostOf(request, options))) return Effect.fail(crossSiteWrite)
      // The host has authenticated it, so the credential headers are not read.
      if (customer !== undefined) return portalAccess.customerOf(customer.tenantId, customer.client)
      const found = authenticator.authenticate({ method, url, headers })
      // A cookie may mean anything, so only the credential headers must be valid.
      if (headers["authorization"] !== undefined || headers["x-api-key"] !== undefined) return counted(request, exchange, found)
      return access === "anonymous" ? Effect.catchTag(found, "Unauthenticated", () => Effect.undefined) : found
    })
  }

  /** Checks the credential headers, unless too many have failed. */
  const counted = ({ headers }: HttpServerRequest.HttpServerRequest, exchange: Exchange, found: Effect.Effect<Principal, Failure>): Effect.Effect<Principal, Failure> =>
    Effect.flatMap(countedCredentials(exchange.address(), headers), (presented) =>
      failures.admit(presented, exchange.startedAt).pipe(
        Effect.andThen(found),
        Effect.tap(() => Effect.sync(() => failures.succeeded(presented))),
        Effect.tapErrorTag("Unauthenticated", () => Effect.sync(() => failures.failed(presented, exchange.startedAt)))
      ))

  const anonymousOf = (request: HttpServerRequest.HttpServerRequest, { address, principal }: Exchange): Effect.Effect<AnonymousCaller, Failure> => {
    if (principal === undefined) {
      return Effect.map(publicTenantOf(hostOf(request, options)), (tenantId) => ({ tenantId, client: anonymousClientNamed(address() ?? ""), principal }))
    }
    const { client, tenantId } = principal
    return isOperator(principal) ? Effect.fail(new NotPermitted({ needed: "customer or carrier" })) : Effect.succeed({ tenantId, client, principal })
  }

  const appOf = (answer: ReturnType<typeof answerFrom>): App => Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
    Clock.clockWith((clock) => {
      const receivedAt = clock.currentTimeMillisUnsafe()
      const exchange: Exchange = {
        correlationId: correlationIdOf(request.headers, () => ids.nextAt(receivedAt)),
        method: request.method,
        receivedAt,
        startedAt: monotonicMillisUnsafe(clock),
        address: () => {
          try {
            return clientAddressOf(request, options)
          } catch (error) {
            exchange.addressFailure = { error }
            return undefined
          }
        },
        addressFailure: undefined,
        template: "(none)",
        contract: undefined,
        principal: undefined,
        anonymous: undefined,
        link: undefined,
        isParameter: undefined
      }
      return answer(request, exchange).pipe(
        Effect.interruptible,
        Effect.exit,
        Effect.flatMap((exit) => conclude(exchange, exit, { refusals, errors, credentials })),
        Effect.annotateLogs("correlationId", exchange.correlationId)
      )
    }))
  return (mounted: ReadonlyArray<MountedContract>): App => appOf(answerFrom(makeRouteTable(mounted)))
})

/** Why no call can be chosen for a request. */
const refusalOfHead = (request: HttpServerRequest.HttpServerRequest, targetLength: number): Refused | undefined => {
  if (targetLength > maxTargetLength) return targetTooLong
  if (!namesOneHost(request)) return ambiguousHost
  const transferCoding = request.headers["transfer-encoding"]
  return transferCoding === undefined || transferCoding.toLowerCase() === "chunked" ? undefined : wrongTransferCoding
}

/** Why the endpoint refuses an authenticated caller. */
const refusalTo = (principal: Principal | undefined, { access, method, showsBodies }: EndpointSpec): NotPermitted | OperatorReadOnly | undefined => {
  if (access === "portal" && principal !== undefined && isOperator(principal)) return new NotPermitted({ needed: "carrier or customer" })
  if (access !== "operator" || principal === undefined) return undefined
  if (!isOperator(principal)) return new NotPermitted({ needed: "operator" })
  if (principal.readOnly !== true) return undefined
  if (method !== "GET") return new OperatorReadOnly({ refused: "write" })
  return showsBodies === true ? new OperatorReadOnly({ refused: "body" }) : undefined
}

/** Calls that browsers make with the cookies of a session: some of their writes have no body, which a form of any page can send. */
const isBrowsers = (access: EndpointSpec["access"]): boolean => access === "portal" || access === "operator"

const noHeaders = {}

/** The headers that the endpoint declares, by its names. */
const headersOf = ({ headers }: HttpServerRequest.HttpServerRequest, taken: EndpointSpec["headers"]) =>
  taken === undefined ? noHeaders : Object.fromEntries(Object.keys(taken).map((name) => [name, headers[name.toLowerCase()]]))

/** Path and query below the mount path. */
const targetOf = (request: HttpServerRequest.HttpServerRequest) => {
  const target = request.url.split("#", 1)[0]!
  const at = target.indexOf("?")
  return {
    path: at < 0 ? target : target.slice(0, at),
    search: at < 0 ? "" : target.slice(at + 1)
  }
}

/** The part of the path that a router of Effect removed. */
const mountPathOf = ({ originalUrl, url }: HttpServerRequest.HttpServerRequest): string => {
  if (originalUrl === url) return ""
  const original = /^[a-z]+:\/\/[^/?#]*(.*)$/i.exec(originalUrl)?.[1] ?? originalUrl
  return original.endsWith(url) ? original.slice(0, -url.length) : ""
}

interface Match {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

/** The endpoint, or the response to an OPTIONS request. */
const routeOf = (
  table: RouteTable,
  method: string,
  path: string,
  exchange: Exchange
): Effect.Effect<Match | HttpServerResponse.HttpServerResponse, Refused> => {
  const found = table.find(path)
  const contract = found._tag === "Matched" ? found.pathRoutes.contract : found.contract
  exchange.contract = contract
  if (found._tag === "NotFound") return Effect.fail(found.readable ? unknownAt(table, path) : unreadablePath)
  const { params, pathRoutes } = found
  exchange.template = pathRoutes.template
  const route = pathRoutes.routes.get(method === "HEAD" ? "GET" : method)
  if (route !== undefined) {
    exchange.isParameter = route.isParameter
    return Effect.succeed({ route, params })
  }
  return method === "OPTIONS"
    ? Effect.succeed(HttpServerResponse.empty({ status: 204, headers: { allow: pathRoutes.allow } }))
    : Effect.fail(methodNotAllowed(method, pathRoutes.allow))
}

/** Most segments of a mount path that a response names. */
const maxMountSegments = 4

const unknownAt = (table: RouteTable, path: string): Refused => {
  let at = path.indexOf("/", 1)
  for (let count = 0; at > 0 && count < maxMountSegments; count++) {
    const mountPath = path.slice(0, at)
    // a doubled slash is no mount
    if (mountPath.length <= 100 && !mountPath.endsWith("/") && table.find(path.slice(at))._tag === "Matched") return unmountedPath(path, mountPath)
    at = path.indexOf("/", at + 1)
  }
  return unknownPath
}

/** Turns the outcome of a request into its response, and updates log and metrics. */
const conclude = Effect.fnUntraced(function*(
  exchange: Exchange,
  exit: Exit.Exit<HttpServerResponse.HttpServerResponse, Failure>,
  { credentials, errors, refusals }: { readonly refusals: RefusalLog; readonly errors: LineLimiter; readonly credentials: Credentials }
) {
  const disconnected = Exit.isFailure(exit) && hasLeft(exit.cause)
  const response = Exit.isSuccess(exit) ? sentWithin(exchange, exit.value, errors) : yield* refusalOf(exchange, yield* problemOfCause(exchange, exit.cause, { credentials, errors }))
  const status = disconnected ? 499 : response.status
  const reason = Exit.isFailure(exit) ? refusalReason(exit.cause, status) : undefined
  const { fields } = yield* logRequest(exchange, status, yield* monotonicMillis, reason !== undefined)
  if (reason !== undefined) yield* refusals.log({ address: exchange.address(), reason, status, fields }, exchange.startedAt)
  const { addressFailure } = exchange
  if (addressFailure !== undefined) yield* errors.log("clientAddress", Effect.logError("clientAddress of the host failed. The caller counts as one without an address.", addressFailure.error))
  return HttpServerResponse.setHeaders(response, {
    ...lengthOf(exchange, response),
    "x-request-id": exchange.correlationId,
    "x-content-type-options": "nosniff",
    "cache-control": response.headers["cache-control"] ?? "no-store",
    date: httpDate(yield* Clock.currentTimeMillis)
  })
})

/** Without a length, Node sends an empty body in chunks. 204 has no body, and HEAD does not send it. */
const lengthOf = ({ method }: Exchange, { body, status }: HttpServerResponse.HttpServerResponse) =>
  body._tag === "Empty" && status !== 204 && method !== "HEAD" ? { "content-length": "0" } : undefined

const refusalOf = Effect.fnUntraced(function*({ contract, correlationId }: Exchange, problem: Problem) {
  const shape: ProblemShape = contract === undefined ? problemDetails : shapeOf(contract)
  const detailHeaders = shape.headers?.write(problem)
  // The operator finds it by the correlation id, even if the body does not contain the detail.
  if (detailHeaders !== undefined) yield* Effect.annotateLogs(Effect.logInfo("Request refused.", problem.detail), { problem: problem.code })
  const options = { status: problem.status, headers: { ...problem.headers, ...detailHeaders } }
  return shape.bodiless?.includes(problem.status) === true
    ? HttpServerResponse.empty(options)
    : HttpServerResponse.text(shape.write(problem, instanceOf(correlationId)), { ...options, contentType: shape.contentType })
})

/** A streamed body that fails after the response began, or that is not read, ends the connection early. */
const sentWithin = ({ correlationId, template }: Exchange, response: HttpServerResponse.HttpServerResponse, errors: LineLimiter) => {
  const { body } = response
  if (body._tag !== "Stream") return response
  const log = (line: Effect.Effect<void>) => errors.log(`Response aborted. ${template}`, Effect.annotateLogs(line, { correlationId, route: template }))
  const logged = Stream.tapError(body.stream, (error) => log(Effect.logError("Response aborted, its body failed.", error)))
  return withSendTimeout(
    HttpServerResponse.setBody(response, HttpBody.stream(logged, body.contentType, body.contentLength)),
    log(Effect.logInfo(`Response aborted, its reader took nothing for ${sendTimeoutMillis / 60_000} minutes.`))
  )
}

interface Credentials {
  readonly schemes: SecuritySchemesByName
  readonly acceptsUndescribed: boolean
}

const problemOfCause = (
  exchange: Exchange,
  cause: Cause.Cause<Failure>,
  { credentials: { acceptsUndescribed, schemes }, errors }: { readonly credentials: Credentials; readonly errors: LineLimiter }
): Effect.Effect<Problem> => {
  const failed = cause.reasons.find(Cause.isFailReason)
  const died = cause.reasons.some(Cause.isDieReason)
  if (died || (failed === undefined && !Cause.hasInterrupts(cause))) {
    const line = Effect.logError("Request failed with a defect.", cause)
    return Effect.as(errors.log(`Request failed with a defect. ${exchange.template}`, line), internalProblem)
  }
  if (failed === undefined) return Effect.succeed(interruptedProblem)
  const problem = withChallenge(problemOf(failed.error, exchange.isParameter, exchange.contract?.statuses), failed.error, schemes, acceptsUndescribed)
  // A refused transfer coding is 501, and still the caller's doing.
  if (problem.status < 500 || failed.error._tag === "Refused") return Effect.succeed(problem)
  const { _tag, message } = failed.error
  const isDoubtful = _tag === "StorageError" && exchange.method !== "GET" && exchange.method !== "HEAD"
  return Effect.as(errors.log(message, Effect.logError(message, reasonOf(failed.error))), isDoubtful ? { ...problem, detail: `${problem.detail} This call may have been carried out.` } : problem)
}

/** The cause of a failure, for the log only. */
const reasonOf = (failure: Failure): unknown =>
  failure._tag === "StorageError" || failure._tag === "AuthenticationUnavailable" || failure._tag === "PickupDeskFailed" ? failure.cause : failure

/** Whether the caller disconnected before the response was ready. */
const hasLeft = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) => Cause.isInterruptReason(reason) && reason.annotations.has(HttpServerError.ClientAbort.key))
