/** What `createWaybill` is told, and the layers that become of it. */
import {
  AccessOptions,
  DeliveryOptions,
  FreightChargeOptions,
  RetentionOptions,
  Sealer,
  ShipmentStatusOptions,
  type StorageAdapter,
  storageAdapter,
  Waybill,
  type WaybillStorage
} from "@waybill/core"
import { Layer, Logger, Redacted, References, Result } from "effect"
import { AuthenticatorHost, type HostAuthenticate } from "../access/AuthenticatorHost.ts"
import { AuthenticatorStandard } from "../access/AuthenticatorStandard.ts"
import { type JwtOptions, refusalOfJwksUrl } from "../access/JwtVerifier.ts"
import { type OperatorKeySetting, operatorKeysOf } from "../access/OperatorKeys.ts"
import { Readiness } from "../server/Readiness.ts"
import type { WaybillHttpOptions } from "../server/WaybillHttp.ts"
import { normalBase } from "../shared/Contract.ts"
import { contentsLayerOf, type DocumentsOutside } from "./DocumentsOutside.ts"
import { type HostPickupDesk, pickupDeskLayer } from "./PickupMethods.ts"
import { plain } from "./Plain.ts"
import { parseEgressAllow } from "../webhook-sender/AddressGuard.ts"
import { ContentHashNode } from "../invoices/ContentHashNode.ts"
import { HmacNode } from "../webhook-sender/HmacNode.ts"
import { WebhookSenderHttp } from "../webhook-sender/WebhookSenderHttp.ts"

/** One line for a log. Never holds a key, a secret or a body. */
export interface LogEntry {
  readonly level: string
  readonly at: string
  readonly message: string
  /** `correlationId`, `tenant`, `route` and the like. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly cause: string | undefined
}

/** How the delivery worker behaves. Everything has a default. */
export interface DeliverySettings {
  /** Attempts this process has under way at the same time. */
  readonly concurrency?: number
  /** Attempts one subscription has under way at the same time. */
  readonly laneConcurrency?: number
  /** The whole attempt, from name lookup to the last byte read. */
  readonly attemptTimeoutMillis?: number
  /** How long an idle worker waits before it looks without having been woken. */
  readonly pollMillis?: number
  /** How long `stop` waits for attempts under way. */
  readonly drainMillis?: number
  /** How long a killed worker's deliveries wait before another takes them up; longer than an attempt. */
  readonly leaseMillis?: number
  /** Bytes of one request body, at most, unless a single event is larger. */
  readonly maxBatchBytes?: number
  /** Bytes of bodies in memory, about. */
  readonly maxBytesInFlight?: number
}

/** How long what ended stays before `start` removes it. */
export interface RetentionSettings {
  /** Settled deliveries: 30 days. */
  readonly keepSettledMillis?: number
  /** Shipments after the consignee got them: 365 days. */
  readonly keepDeliveredShipmentsMillis?: number
  /** Freight bills after they were invoiced or removed: 365 days. */
  readonly keepEndedBillsMillis?: number
  /** Bodies of notifications: 180 days, and never less than deliveries. */
  readonly keepNoticesMillis?: number
  /** Pickups after they were ordered: 365 days. */
  readonly keepPickupsMillis?: number
  /** Entries of the audit log: 400 days. */
  readonly keepAuditMillis?: number
}

export interface WaybillOptions extends Pick<WaybillHttpOptions, "publicBaseUrl" | "trustForwarded" | "bodyTimeoutMillis" | "publicTenant"> {
  /** From a storage package, such as `@waybill/postgres`. */
  readonly storage: WaybillStorage
  /** Your own log-in. Leave it out to take Waybill's API keys. */
  readonly authenticate?: HostAuthenticate
  /** Takes Waybill's own API keys, and what else is set here: operators' keys, JWTs. */
  readonly apiKeys?: true
  /** Open `/operator`; at least 20 characters each. A key may have a name, and may be read-only. */
  readonly operatorKeys?: ReadonlyArray<OperatorKeySetting>
  readonly jwt?: JwtOptions
  /** 32 bytes each, as bytes or base64. The first seals webhook secrets, all of them open: put a new key in front. */
  readonly sealingKeys: readonly [Uint8Array | string, ...ReadonlyArray<Uint8Array | string>]
  /** Networks and hosts that webhooks may reach although private, such as `10.1.0.0/16` or `receiver.internal`. */
  readonly egressAllow?: ReadonlyArray<string>
  readonly delivery?: DeliverySettings
  readonly retention?: RetentionSettings
  /**
   * How long subscriptions of a client are served after it was seen last; what comes later waits for it. Seven days for clients of
   * JWTs; without end for principals of `authenticate` and of calls, unless it is set.
   */
  readonly tokenAccessSeconds?: number
  /** Lookups a minute of freight that is not the caller's own, for each client or address. 60 by default. */
  readonly othersLookupsPerMinute?: number
  /** IANA name of the zone whose hours and midnights close hourly and daily notifications. UTC by default. */
  readonly timeZone?: string
  /** Tells whom public lookups through `handler` are counted for, where you know the caller's address better. */
  readonly clientAddress?: (request: Request) => string | undefined
  readonly basePaths?: WaybillHttpOptions["basePaths"]
  /** Decides on pickups. Without it every request is accepted under a number of the service's own. */
  readonly pickupDesk?: HostPickupDesk
  /** Where the contents of documents are, if not in `storage`: `documentsInDirectory(path)`, or `documentsInS3` of `@waybill/http/s3`. */
  readonly documents?: DocumentsOutside
  /** Gets every log entry. By default warnings and errors go to standard error as JSON. */
  readonly log?: (entry: LogEntry) => void
}

/** Everything the service needs. Throws when the options contradict themselves. */
export const layerOf = (options: WaybillOptions) => {
  const adapter = storageAdapter(options.storage)
  if (adapter === undefined) throw new TypeError("storage comes from a storage package, such as @waybill/postgres.")
  const { jwt, publicBaseUrl } = options
  if (publicBaseUrl !== undefined && !isWebAddress(publicBaseUrl)) throw new RangeError("publicBaseUrl is an address such as https://freight.example.com.")
  const refusal = jwt === undefined ? undefined : refusalOfJwksUrl(jwt)
  if (refusal !== undefined) throw new RangeError(`jwt.jwksUrl ${refusal}, or name its host in jwt.allowHttpHosts.`)
  for (const base of Object.values(options.basePaths ?? {})) normalBase(base ?? "")
  const storage = storageOf(adapter.layer, options)
  return Layer.mergeAll(Waybill.layer, Readiness.layerStorage).pipe(
    (services) => Layer.provideMerge(authenticatorOf(options), services),
    Layer.provideMerge(Layer.mergeAll(
      storage,
      HmacNode.layer,
      ContentHashNode.layer,
      Sealer.layer(sealingKeysOf(options.sealingKeys)),
      WebhookSenderHttp.layer({ egress: egressOf(options.egressAllow ?? []) }),
      settingsOf(options)
    )),
    Layer.provideMerge(loggerOf(options.log))
  )
}

const storageOf = (layer: StorageAdapter["layer"], { documents }: WaybillOptions): StorageAdapter["layer"] => {
  if (documents === undefined) return layer
  const outside = contentsLayerOf(documents)
  if (outside === undefined) throw new TypeError("documents comes from documentsInDirectory, documentsInS3 or documentsOutside.")
  return Layer.provideMerge(outside, layer)
}

const settingsOf = ({ delivery = {}, othersLookupsPerMinute, pickupDesk, retention = {}, timeZone, tokenAccessSeconds }: WaybillOptions) => {
  if (tokenAccessSeconds !== undefined && !(tokenAccessSeconds > 0)) throw new RangeError("tokenAccessSeconds is a number above 0.")
  if (othersLookupsPerMinute !== undefined && !(Number.isInteger(othersLookupsPerMinute) && othersLookupsPerMinute > 0)) {
    throw new RangeError("othersLookupsPerMinute is a whole number from 1.")
  }
  const { keepSettledMillis, ...kept } = plain(retention) as RetentionSettings
  return Layer.mergeAll(
    DeliveryOptions.layer({ ...plain(delivery) as DeliverySettings, ...(keepSettledMillis === undefined ? {} : { keepSettledMillis }) }),
    tokenAccessSeconds === undefined ? Layer.empty : Layer.succeed(AccessOptions, { tokenAccessMillis: tokenAccessSeconds * 1000 }),
    Layer.succeed(RetentionOptions, { ...RetentionOptions.defaultValue(), ...kept }),
    othersLookupsPerMinute === undefined ? Layer.empty : Layer.succeed(ShipmentStatusOptions, { othersLookupsPerMinute }),
    pickupDesk === undefined ? Layer.empty : pickupDeskLayer(pickupDesk),
    FreightChargeOptions.layer(timeZone === undefined ? {} : { timeZone })
  )
}

const isWebAddress = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)

const authenticatorOf = ({ apiKeys, authenticate, jwt, operatorKeys }: WaybillOptions) => {
  if (authenticate !== undefined) {
    if (apiKeys !== undefined || jwt !== undefined || operatorKeys !== undefined) {
      throw new TypeError("Give authenticate alone: it takes the place of apiKeys, jwt and operatorKeys.")
    }
    return AuthenticatorHost.layer(authenticate)
  }
  return AuthenticatorStandard.layer({ jwt, operatorKeys: operatorKeysOf(operatorKeys ?? []) })
}

/** Also from programs that no compiler looked at. */
const sealingKeysOf = (keys: WaybillOptions["sealingKeys"] | undefined) => {
  const [first, ...more] = Array.isArray(keys) ? keys as WaybillOptions["sealingKeys"] : []
  return [sealingKeyOf(first), ...more.map(sealingKeyOf)] as const
}

const sealingKeyOf = (key: Uint8Array | string | undefined): Redacted.Redacted<Uint8Array> => {
  const bytes = typeof key === "string" ? new Uint8Array(Buffer.from(key, "base64")) : key
  if (bytes?.length !== 32) throw new RangeError("sealingKeys is a list of at least one key of 32 bytes, each given as bytes or as base64.")
  return Redacted.make(bytes)
}

const egressOf = (allowed: ReadonlyArray<string>) => {
  const parsed = parseEgressAllow(allowed.join(","))
  if (Result.isFailure(parsed)) throw new TypeError(`egressAllow: ${parsed.failure.join(" ")}`)
  return parsed.success
}

export const loggerOf = (log: WaybillOptions["log"]) =>
  log === undefined
    ? Layer.merge(Logger.layer([Logger.withConsoleError(Logger.formatJson)]), Layer.succeed(References.MinimumLogLevel, "Warn"))
    : Layer.merge(Logger.layer([Logger.map(Logger.formatStructured, (entry) => log(entryOf(entry)))]), Layer.succeed(References.MinimumLogLevel, "Debug"))

const entryOf = (entry: {
  readonly level: string
  readonly timestamp: string
  readonly message: unknown
  readonly cause: string | undefined
  readonly annotations: Record<string, unknown>
}): LogEntry => {
  const [message, ...rest] = Array.isArray(entry.message) ? entry.message : [entry.message]
  const more = rest.length === 0 ? undefined : rest.map((each) => typeof each === "string" ? each : JSON.stringify(each)).join(" ")
  return { level: entry.level.toLowerCase(), at: entry.timestamp, message: String(message), fields: entry.annotations, cause: entry.cause ?? more }
}
