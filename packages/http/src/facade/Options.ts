/** The options of `createWaybill`, and the layers built from them. */
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

/** One log entry. Never contains a key, a secret or a body. */
export interface LogEntry {
  readonly level: string
  readonly at: string
  readonly message: string
  /** Fields such as `correlationId`, `tenant` and `route`. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly cause: string | undefined
}

/** Settings of the delivery worker, all optional. */
export interface DeliverySettings {
  /** Concurrent attempts in this process. */
  readonly concurrency?: number
  /** Concurrent attempts per subscription. */
  readonly laneConcurrency?: number
  /** Timeout of a whole attempt, from DNS lookup to the last byte of the response. */
  readonly attemptTimeoutMillis?: number
  /** Poll interval of an idle worker that receives no signal. */
  readonly pollMillis?: number
  /** How long `stop` waits for attempts in flight. */
  readonly drainMillis?: number
  /** How long deliveries of a killed worker wait until another takes over; longer than an attempt. */
  readonly leaseMillis?: number
  /** Maximum bytes of one request body, unless a single event is larger. */
  readonly maxBatchBytes?: number
  /** Approximate limit for bytes of bodies in memory. */
  readonly maxBytesInFlight?: number
}

/** How long data is kept before `start` removes it. */
export interface RetentionSettings {
  /** Settled deliveries. Default 30 days. */
  readonly keepSettledMillis?: number
  /** Shipments after delivery to the consignee. Default 365 days. */
  readonly keepDeliveredShipmentsMillis?: number
  /** Freight bills after they were invoiced or removed. Default 365 days. */
  readonly keepEndedBillsMillis?: number
  /** Bodies of notifications. Default 180 days, and never shorter than deliveries. */
  readonly keepNoticesMillis?: number
  /** Pickups after they were ordered. Default 365 days. */
  readonly keepPickupsMillis?: number
  /** Entries of the audit log. Default 400 days. */
  readonly keepAuditMillis?: number
}

export interface WaybillOptions extends Pick<WaybillHttpOptions, "publicBaseUrl" | "trustForwarded" | "bodyTimeoutMillis" | "publicTenant"> {
  /** From a storage package, such as `@waybill/postgres`. */
  readonly storage: WaybillStorage
  /** Your own authentication. Default: Waybill's API keys. */
  readonly authenticate?: HostAuthenticate
  /** Also accepts Waybill's API keys, and the operator keys and JWTs that are configured here. */
  readonly apiKeys?: true
  /** Keys for `/operator`; at least 20 characters each. A key may have a name, and may be read-only. */
  readonly operatorKeys?: ReadonlyArray<OperatorKeySetting>
  readonly jwt?: JwtOptions
  /** 32 bytes each, as bytes or base64. The first key encrypts webhook secrets, all keys decrypt them: put a new key first. */
  readonly sealingKeys: readonly [Uint8Array | string, ...ReadonlyArray<Uint8Array | string>]
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
  /** Decides on pickups. Default: every request is accepted with a generated number. */
  readonly pickupDesk?: HostPickupDesk
  /** Storage of document contents outside of `storage`: `documentsInDirectory(path)`, or `documentsInS3` of `@waybill/http/s3`. */
  readonly documents?: DocumentsOutside
  /** Receives every log entry. Default: warnings and errors go to standard error as JSON. */
  readonly log?: (entry: LogEntry) => void
}

/** All layers of the service. Throws when options contradict each other. */
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

/** Validates the keys, also for callers without types. */
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
