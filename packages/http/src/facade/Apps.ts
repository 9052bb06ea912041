/** The HTTP handlers, from the options of a host. */
import { checkOptions, type OptionKind, type OptionKinds, optionKinds } from "@waybill/core"
import { Context, Effect, Layer } from "effect"
import { AuthenticatorHost } from "../access/AuthenticatorHost.ts"
import { AuthenticatorStandard } from "../access/AuthenticatorStandard.ts"
import { checkJwtOptions } from "../access/JwtVerifier.ts"
import { operatorKeysOf } from "../access/OperatorKeys.ts"
import { checkSchemeNames } from "../access/SecuritySchemes.ts"
import { defaultBasePaths, type WaybillApps, WaybillHttp, type WaybillHttpServices } from "../server/WaybillHttp.ts"
import { normalBase } from "../shared/Contract.ts"
import type { WaybillOptions } from "./Options.ts"

const { boolean, function: callback, list, object, text } = optionKinds

/** Kinds of the options about HTTP. */
export const httpOptionKinds = {
  authenticate: callback,
  securitySchemes: object,
  apiKeys: boolean,
  operatorKeys: list,
  jwt: object,
  clientAddress: callback,
  basePaths: object,
  publicBaseUrl: text,
  trustForwarded: boolean,
  bodyTimeoutMillis: optionKinds.millis,
  publicTenant: text,
  ignoredQueryParameters: list
} satisfies Partial<OptionKinds<WaybillOptions>>

/** The options about HTTP. */
export type HttpOptions = Pick<WaybillOptions, keyof typeof httpOptionKinds>

/** The base of a path may be empty. */
const basePath: OptionKind = { what: "a path such as /freight", accepts: (value) => typeof value === "string" }

const basePathKinds = Object.fromEntries(Object.keys(defaultBasePaths).map((name) => [name, basePath]))

/** Built by the first request: the descriptions of every call cost more than opening the storage, and many processes only publish. */
export class Apps extends Context.Service<Apps, Effect.Effect<WaybillApps>>()("@waybill/http/facade/Apps") {}

/** Throws when options contradict each other. */
export const appsLayer = (options: HttpOptions) => {
  const { basePaths, bodyTimeoutMillis, clientAddress, ignoredQueryParameters, jwt, publicBaseUrl, publicTenant, trustForwarded } = options
  if (publicBaseUrl !== undefined && !isWebAddress(publicBaseUrl)) throw new RangeError("publicBaseUrl is an address such as https://freight.example.com.")
  if (jwt !== undefined) checkJwtOptions(jwt)
  // also for callers without types
  if (ignoredQueryParameters?.some((name: unknown) => typeof name !== "string" || name === "")) throw new TypeError("ignoredQueryParameters is a list of names, such as [\"access_token\"].")
  checkOptions("basePaths", basePaths ?? {}, basePathKinds)
  for (const base of Object.values(basePaths ?? {})) normalBase(base ?? "")
  const parts = WaybillHttp.makeParts({
    basePaths,
    bodyTimeoutMillis,
    ignoredQueryParameters,
    publicBaseUrl,
    publicTenant,
    trustForwarded,
    clientAddress: clientAddress && (({ source }) => source instanceof Request ? clientAddress(source) : undefined)
  })
  // every request shares the result, so an interruption of the first one must not become it
  const cached = Effect.flatMap(Effect.context<WaybillHttpServices>(), (context) => Effect.cached(Effect.uninterruptible(Effect.provideContext(parts, context))))
  return Layer.effect(Apps, cached).pipe(Layer.provide(authenticatorOf(options)))
}

const isWebAddress = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)

const authenticatorOf = ({ apiKeys, authenticate, jwt, operatorKeys, securitySchemes }: HttpOptions) => {
  if (authenticate !== undefined) {
    if (jwt !== undefined || operatorKeys !== undefined) {
      throw new TypeError("Give authenticate without jwt and operatorKeys: it takes their place. Only apiKeys can be beside it.")
    }
    checkSchemeNames(securitySchemes ?? {})
    return apiKeys === true ? AuthenticatorHost.layerWithApiKeys(authenticate, securitySchemes) : AuthenticatorHost.layer(authenticate, securitySchemes)
  }
  if (securitySchemes !== undefined) throw new TypeError("securitySchemes describes the credentials of authenticate. Give both, or neither.")
  return AuthenticatorStandard.layer({ jwt, operatorKeys: operatorKeysOf(operatorKeys ?? []) })
}
