/** The options of `createWaybill`, and the layers built from them. */
import {
  AccessOptions,
  checkOptions,
  decodePortalTheme,
  type Mail,
  Mailer,
  MailFailed,
  type OptionKinds,
  optionKinds,
  type PortalTheme,
  RetentionOptions,
  type RetentionWindows,
  type StorageAdapter,
  storageAdapter,
  Waybill,
  type WaybillStorage
} from "@waybill/core"
import { DeliveryOptions, type DeliveryOptionValues } from "@waybill/core/delivery"
import { FreightChargeOptions } from "@waybill/core/freight-charges"
import { ShipmentStatusOptions } from "@waybill/core/shipment-status"
import { Effect, Layer, Redacted, Result } from "effect"
import type { HostAuthenticate } from "../access/AuthenticatorHost.ts"
import type { JwtOptions } from "../access/JwtVerifier.ts"
import type { SecuritySchemesByName } from "../access/SecuritySchemes.ts"
import type { OperatorKeySetting } from "../access/OperatorKeys.ts"
import type { WaybillHttpOptions } from "../server/WaybillHttp.ts"
import { httpOptionKinds, type HttpOptions } from "./Apps.ts"
import { contentsLayerOf, type ExternalDocuments } from "./ExternalDocuments.ts"
import type { LogEntry } from "./HostLog.ts"
import { pickupDeskLayer } from "./PickupDeskLayer.ts"
import type { HostPickupDesk, WaitingPickupDesk } from "./PickupMethods.ts"
import { PortalPage } from "../portal/PortalPage.ts"
import { plain } from "./Plain.ts"
import { TransportHttp, type TransportHttpOptions } from "../webhook-sender/TransportHttp.ts"

/** Settings of the delivery worker, all optional. */
export interface DeliverySettings extends Partial<Omit<DeliveryOptionValues, "keepSettledMillis">> {}

/** How long data is kept before `start` removes it, all optional. */
export interface RetentionSettings extends Partial<RetentionWindows & Pick<DeliveryOptionValues, "keepSettledMillis">> {}

/** The portal of customers. */
export interface PortalSettings {
  /** The address of the page that links open. Without it, links are tokens only. */
  readonly pageUrl?: string
  readonly theme?: PortalTheme
}

/** `Tx` is what `within` accepts, as the storage declares it. */
export interface WaybillOptions<Tx = never> extends Pick<WaybillHttpOptions, "publicBaseUrl" | "trustForwarded" | "bodyTimeoutMillis" | "publicTenant" | "ignoredQueryParameters"> {
  /** From a storage package, such as `@waybill/postgres`. */
  readonly storage: WaybillStorage<Tx>
  /** Your own authentication. It takes the place of Waybill's API keys, unless `apiKeys` keeps them, of `operatorKeys` and of `jwt`. */
  readonly authenticate?: HostAuthenticate
  /**
   * The credentials that `authenticate` accepts, as OpenAPI security schemes by name: for `/openapi.json`, `/docs` and
   * 401 responses. Default: these describe no credentials.
   */
  readonly securitySchemes?: SecuritySchemesByName
  /**
   * Beside `authenticate`: requests with the header `X-API-Key` are authenticated by that API key of Waybill alone, and do not reach
   * `authenticate`. Without `authenticate` API keys are always accepted.
   */
  readonly apiKeys?: true
  /** Keys for `/operator`; at least 20 characters each. A key may have a name, and may be read-only. */
  readonly operatorKeys?: ReadonlyArray<OperatorKeySetting>
  readonly jwt?: JwtOptions
  /** At least one key of 32 bytes, as bytes or base64. The first key encrypts webhook secrets, all keys decrypt them: to rotate, give `[old, new]` to every process first, then `[new, old]`. */
  readonly sealingKeys: ReadonlyArray<Uint8Array | string>
  /** Private networks and hosts that webhooks may reach, such as `10.1.0.0/16` or `receiver.internal`. */
  readonly egressAllow?: ReadonlyArray<string>
  readonly delivery?: DeliverySettings
  readonly retention?: RetentionSettings
  /**
   * How long subscriptions of a client are served after the client was last seen; later entries wait for it. Default:
   * seven days for clients of JWTs; unlimited for principals of `authenticate` and of calls.
   */
  readonly tokenAccessSeconds?: number
  /** Lookups per minute of freight that is not the caller's own, per client or address. Default 60. */
  readonly othersLookupsPerMinute?: number
  /** IANA time zone whose hours and midnights close the windows of hourly and daily notifications. Default UTC. */
  readonly timeZone?: string
  /** Returns the key that public lookups through `handler` are counted by, if you know the caller's address better. */
  readonly clientAddress?: (request: Request) => string | undefined
  readonly basePaths?: WaybillHttpOptions["basePaths"]
  /**
   * Decides on pickups: your own dispatch, or `{ waitSeconds: 20 }` for carriers who decide with `pickups.decide` or over intake. Default:
   * every request is accepted with a generated number.
   */
  readonly pickupDesk?: HostPickupDesk<NoInfer<Tx>> | WaitingPickupDesk
  /** Storage of document contents outside of `storage`: `documentsInDirectory(path)`, or `documentsInS3` of `@waybill/http/s3`. */
  readonly documents?: ExternalDocuments
  /** The portal's page, if you serve one, and how it looks: a link's own theme replaces `theme` member by member. */
  readonly portal?: PortalSettings
  /**
   * Sends an e-mail: notices to customers, and confirmations of pickups. A rejection is tried again for a day. Default: none is sent, and the portal and answers to pickups say so. `id` is the
   * same for each attempt.
   */
  readonly mail?: (mail: Mail) => Promise<void>
  /** Receives every log entry, with the errors of your own code. Default: warnings and errors go to standard error as JSON. */
  readonly log?: (entry: LogEntry) => void
}

const { authenticate, ...otherHttpKinds } = httpOptionKinds

const { any, count, function: callback, list, object } = optionKinds

const kinds: OptionKinds<WaybillOptions> = {
  // first, because an error about the options as a whole names the first three
  storage: any,
  sealingKeys: list,
  authenticate,
  ...otherHttpKinds,
  egressAllow: list,
  delivery: object,
  retention: object,
  tokenAccessSeconds: { what: "a number above 0", accepts: (value) => typeof value === "number" && value > 0 && value <= 4e9 },
  othersLookupsPerMinute: count,
  timeZone: optionKinds.text,
  pickupDesk: { what: "a function, an object with decide, or { waitSeconds }", accepts: (value) => callback.accepts(value) || object.accepts(value) },
  documents: any,
  portal: object,
  mail: callback,
  log: callback
}

/** The options that are about calls, not about layers. */
export const servedOf = <Tx>(options: WaybillOptions<Tx>): HttpOptions & Pick<WaybillOptions, "log"> =>
  Object.fromEntries(["log", ...Object.keys(httpOptionKinds)].map((name) => [name, options[name as keyof WaybillOptions]])) as HttpOptions

/** Every use case over its storage and transports. Throws when an option is invalid. */
export const layerOf = (options: WaybillOptions) => {
  checkOptions("createWaybill", options, kinds)
  const adapter = storageAdapter(options.storage)
  if (adapter === undefined) throw new TypeError("storage comes from a storage package, such as @waybill/postgres.")
  const storage = storageOf(adapter.layer, options)
  const transport = TransportHttp.layer({ sealingKeys: sealingKeysOf(options.sealingKeys), egressAllow: options.egressAllow ?? [] })
  return Layer.provideMerge(Waybill.layer({ storage, transport }), settingsOf(options))
}

const storageOf = (layer: StorageAdapter["layer"], { documents }: WaybillOptions): StorageAdapter["layer"] => {
  if (documents === undefined) return layer
  const outside = contentsLayerOf(documents)
  if (outside === undefined) throw new TypeError("documents comes from documentsInDirectory, documentsInS3 or externalDocuments.")
  return Layer.provideMerge(outside, layer)
}

const settingsOf = ({ delivery = {}, mail, othersLookupsPerMinute, pickupDesk, portal, retention = {}, timeZone, tokenAccessSeconds }: WaybillOptions) => {
  const { keepSettledMillis, ...kept } = plain(retention) as RetentionSettings
  return Layer.mergeAll(
    DeliveryOptions.layer({ ...plain(delivery) as DeliverySettings, ...(keepSettledMillis === undefined ? {} : { keepSettledMillis }) }),
    tokenAccessSeconds === undefined ? Layer.empty : Layer.succeed(AccessOptions, { tokenAccessMillis: tokenAccessSeconds * 1000 }),
    RetentionOptions.layer(kept),
    othersLookupsPerMinute === undefined ? Layer.empty : Layer.succeed(ShipmentStatusOptions, { othersLookupsPerMinute }),
    // the transaction that it gets comes from the storage, whose type it has
    pickupDesk === undefined ? Layer.empty : pickupDeskLayer(pickupDesk as HostPickupDesk | WaitingPickupDesk),
    portal === undefined ? Layer.empty : Layer.succeed(PortalPage, portalPageOf(portal)),
    mail === undefined ? Layer.empty : Layer.succeed(Mailer, {
      sends: true,
      send: (sent) => Effect.tryPromise({ try: async () => mail(sent), catch: (error) => new MailFailed({ reason: error instanceof Error ? error.message : String(error) }) })
    }),
    FreightChargeOptions.layer(timeZone === undefined ? {} : { timeZone })
  )
}

/** Throws when they are invalid: what is in them is sent to browsers. */
const portalPageOf = (portal: PortalSettings) => {
  checkOptions("portal", portal, { pageUrl: optionKinds.text, theme: object } satisfies OptionKinds<PortalSettings>)
  const { pageUrl, theme = {} } = portal
  if (pageUrl !== undefined && !/^https?:$/.test(URL.parse(pageUrl)?.protocol ?? "")) throw new RangeError("portal.pageUrl is an address such as https://freight.example.com/portal/.")
  const checked = Effect.runSync(Effect.result(decodePortalTheme(theme, ["portal", "theme"])))
  if (Result.isFailure(checked)) throw new RangeError(checked.failure.message)
  return { address: pageUrl, theme: checked.success }
}

/** Also for callers without types; the transport validates the keys. */
const sealingKeysOf = (keys: WaybillOptions["sealingKeys"] | undefined): TransportHttpOptions["sealingKeys"] =>
  Array.isArray(keys) ? keys.map((key) => Redacted.make(key)) : []
