/** The HTTP handlers, from the options of a host. */
import { Context, Effect, Layer } from "effect"
import { AuthenticatorHost } from "../access/AuthenticatorHost.ts"
import { AuthenticatorStandard } from "../access/AuthenticatorStandard.ts"
import { refusalOfJwksUrl } from "../access/JwtVerifier.ts"
import { operatorKeysOf } from "../access/OperatorKeys.ts"
import { checkSchemeNames } from "../access/SecuritySchemes.ts"
import { type WaybillApps, WaybillHttp, type WaybillHttpServices } from "../server/WaybillHttp.ts"
import { normalBase } from "../shared/Contract.ts"
import type { WaybillOptions } from "./Options.ts"

/** The options about HTTP. */
export type HttpOptions = Pick<
  WaybillOptions,
  | "apiKeys"
  | "authenticate"
  | "basePaths"
  | "bodyTimeoutMillis"
  | "clientAddress"
  | "ignoredQueryParameters"
  | "jwt"
  | "operatorKeys"
  | "publicBaseUrl"
  | "publicTenant"
  | "securitySchemes"
  | "trustForwarded"
>

/** Built by the first request: the descriptions of every call cost more than opening the storage, and many processes only publish. */
export class Apps extends Context.Service<Apps, Effect.Effect<WaybillApps>>()("@waybill/http/facade/Apps") {}

/** Throws when options contradict each other. */
export const appsLayer = (options: HttpOptions) => {
  const { basePaths, bodyTimeoutMillis, clientAddress, ignoredQueryParameters, jwt, publicBaseUrl, publicTenant, trustForwarded } = options
  if (publicBaseUrl !== undefined && !isWebAddress(publicBaseUrl)) throw new RangeError("publicBaseUrl is an address such as https://freight.example.com.")
  const refusal = jwt === undefined ? undefined : refusalOfJwksUrl(jwt)
  if (refusal !== undefined) throw new RangeError(`jwt.jwksUrl ${refusal}, or name its host in jwt.allowHttpHosts.`)
  checkParameterNames(ignoredQueryParameters)
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

/** Also for callers without types. A text would be read as its letters. */
const checkParameterNames = (names: unknown): void => {
  if (names === undefined) return
  if (!Array.isArray(names) || !names.every((name) => typeof name === "string" && name !== "")) {
    throw new TypeError("ignoredQueryParameters is a list of names, such as [\"access_token\"].")
  }
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
