/** All environment variables of the server. `waybill --help` prints this list. */
import { decodePortalTheme, type PortalTheme, TenantId } from "@waybill/core"
import { DeliveryOptions } from "@waybill/core/delivery"
import { type AreaKey, areaOverviews, parseEgressAllow, parseOperatorKeys } from "@waybill/http"
import { InvalidSchemaName, quoteSchema } from "@waybill/postgres"
import { DateTime, Effect, Option, Redacted, Result, Schema } from "effect"
import { readFileSync } from "node:fs"
import { isIP } from "node:net"
import { messageOf } from "../ErrorMessage.ts"
import { defaultEdiLimits } from "../edi/EdiPartners.ts"
import { isFrameAncestor } from "../portal/PortalPage.ts"
import { type DefaultedVariable, fileNameOf, integer, onOff, oneOf, seconds, shown, text, type Variable } from "./Variable.ts"

const variable = <A>(name: string, fallback: string, meaning: string, read: Variable<A>["read"]): Variable<A> => ({ name, fallback, meaning, read })

/** A variable whose default is the value of a text. */
const withDefault = <A>(name: string, fallback: string, meaning: string, read: Variable<A>["read"]): DefaultedVariable<A> => ({ name, fallback, meaning, read, isRead: true })

/** A variable that can also be read from a file, such as a secret mounted into a container. */
const variableOrFile = <A>(name: string, fallback: string, meaning: string, read: Variable<A>["read"]): Variable<A> =>
  ({ name, fallback, meaning, read, hasFile: true })

/** No label begins or ends with a hyphen, and the last is no number: that would be a wrong address, or a port. */
const hostName = /^(?:[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?\.)*(?!\d+\.?$)[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?\.?$/

const host = (value: string) =>
  text(
    (value) => isIP(value) !== 0 || value.length <= 255 && hostName.test(value),
    `is ${shown(value)}, and has to be an address or a host name without scheme and port, such as 0.0.0.0`
  )(value)

const port = integer(0, 65_535, "a port")

const databaseUrl = (value: string): Result.Result<Redacted.Redacted, string> => {
  const url = URL.parse(value)
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol) || /[\r\n]|%(?![0-9a-f]{2})/i.test(value)) {
    return Result.fail("is not a Postgres address. Write it as postgres://user:password@host:5432/database, with special characters of the password percent-encoded")
  }
  const problem = tlsProblem(url.searchParams)
  return problem === undefined ? Result.succeed(Redacted.make(value)) : Result.fail(problem)
}

const sslModes = ["disable", "prefer", "require", "verify-ca", "verify-full", "no-verify"]

/** Found here, because a connection would be tried again and again with a file that is not there, or refused with a mode that means nothing. */
const tlsProblem = (url: URLSearchParams): string | undefined => {
  const mode = url.get("sslmode")
  if (mode !== null && !sslModes.includes(mode)) return `has sslmode=${mode}, and that has to be one of ${sslModes.join(", ")}`
  if (mode === "verify-ca" && url.get("sslrootcert") === null) return "has sslmode=verify-ca, which needs the authority's certificate: add sslrootcert=/path/to/ca.pem, or use verify-full"
  for (const name of ["sslrootcert", "sslcert", "sslkey"]) {
    const path = url.get(name)
    if (path === null) continue
    try {
      if (!readFileSync(path, "utf8").includes("-----BEGIN ")) return `has ${name}=${path}, a file without a PEM block. Correct the path`
    } catch (error) {
      return `has ${name}=${path}, which cannot be read: ${messageOf(error).replace(/, \w+(?: '.*')?$/s, "")}. Correct the path, or let this user read it`
    }
  }
  return undefined
}

const schemaName = (value: string): Result.Result<string, string> => {
  try {
    quoteSchema(value)
    return Result.succeed(value)
  } catch (error) {
    if (error instanceof InvalidSchemaName) {
      return Result.fail(`is ${shown(value)}. Use lower-case letters, digits and underscores, at most 63, not starting with a digit or pg_`)
    }
    throw error
  }
}

export type SealingKeys = readonly [Redacted.Redacted<Uint8Array>, ...ReadonlyArray<Redacted.Redacted<Uint8Array>>]

const sealingKeys = (value: string): Result.Result<SealingKeys, string> => {
  const keys: Array<Redacted.Redacted<Uint8Array>> = []
  const parts = value.split(",").map((part) => part.trim())
  for (const [index, part] of parts.entries()) {
    const bytes = /^[A-Za-z0-9+/_-]+={0,2}$/.test(part) ? Buffer.from(part, "base64") : Buffer.alloc(0)
    if (bytes.length !== 32) {
      const which = parts.length === 1 ? "is" : `number ${index + 1} of ${parts.length} is`
      return Result.fail(`${which} not the base64 text of 32 bytes. Make one with: openssl rand -base64 32`)
    }
    keys.push(Redacted.make(new Uint8Array(bytes)))
  }
  const [first, ...others] = keys
  return Result.succeed([first!, ...others])
}

const egress = (value: string) =>
  Result.mapBoth(parseEgressAllow(value), {
    onSuccess: (policy) => ({ policy, text: value }),
    onFailure: (faults) => `has entries that are none. ${faults.join(" ")} Write networks (10.1.0.0/16), addresses or host names, separated by commas`
  })

const webAddress = (value: string): Result.Result<string, string> => {
  const url = URL.parse(value)
  if (url === null || !/^https?:$/.test(url.protocol)) return Result.fail("is not a full address that starts with https:// or http://")
  if (url.username !== "" || url.password !== "") return Result.fail("has a user name or a password in it. Take them out")
  return Result.succeed(value)
}

const plain = (value: string) => text((value) => /^[\x21-\x7e]{1,500}$/.test(value), "has blanks or characters outside ASCII in it")(value)

const tenantId = (value: string) => text(Schema.is(TenantId), `is ${shown(value)}, and has to be a tenant's id: letters, digits, hyphens and underscores`)(value)

const smtpUrl = (value: string): Result.Result<Redacted.Redacted, string> => {
  const url = URL.parse(value)
  return url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== ""
    ? Result.succeed(Redacted.make(value))
    : Result.fail("is not the address of a mail server. Write it as smtps://user:password@mail.example.com:465, with special characters of the password percent-encoded")
}

/** An address, or a name with the address in angle brackets. */
const mailFrom = (value: string) =>
  text(
    (value) => /^(?:[^\p{C}<>@",:;]{1,100} <[^\s<>@,;]{1,64}@[A-Za-z0-9.-]{1,250}>|[^\s<>@,;]{1,64}@[A-Za-z0-9.-]{1,250})$/u.test(value),
    `is ${shown(value)}, and has to be an address, such as Acme Freight <webhooks@acme.example>`
  )(value)

const frameAncestors = (value: string): Result.Result<ReadonlyArray<string>, string> => {
  const origins = value.split(",").map((part) => part.trim()).filter((part) => part !== "")
  const wrong = origins.find((part) => !isFrameAncestor(part))
  return wrong === undefined ? Result.succeed(origins) : Result.fail(`has ${shown(wrong)}. Write origins, such as https://app.example.com, separated by commas`)
}

const portalTheme = (value: string): Result.Result<PortalTheme, string> => {
  let json: unknown
  try {
    json = JSON.parse(value)
  } catch {
    return Result.fail(`is not JSON. Write it like {"name":"Acme Freight","accent":"#0b5fff"}`)
  }
  return Result.mapError(Effect.runSync(Effect.result(decodePortalTheme(json))), ({ message }) => `cannot be used. ${message.replace(/\.$/, "")}`)
}

const timeZone = (value: string) =>
  text(
    (value) => /^[A-Za-z]/.test(value) && Option.isSome(DateTime.zoneMakeNamed(value)),
    `is ${shown(value)}, and has to be a time zone's name in the IANA database, such as America/Chicago`
  )(value)

const basePath = (value: string): Result.Result<string, string> => {
  const parts = value.split("/").filter((part) => part !== "")
  const good = parts.length > 0 && parts.every((part) => /^[A-Za-z0-9._~-]{1,100}$/.test(part) && part !== "." && part !== "..")
  return good
    ? Result.succeed(parts.map((part) => `/${part}`).join(""))
    : Result.fail(`is ${shown(value)}, and has to be a path of letters, digits and . _ ~ -, such as /freight/status`)
}

export const dayMillis = 86_400_000

const days = (value: string) => Result.map(integer(1, 3650, "a number of days")(value), (count) => count * dayMillis)

const inSeconds = (millis: number): string => String(millis / 1000)
const inDays = (millis: number): string => String(millis / dayMillis)

const wholeSeconds = (minimum: number, maximum: number) => (value: string) => Result.map(integer(minimum, maximum)(value), (count) => count * 1000)

/** Storage of document contents. */
export type DocumentsPlace =
  | { readonly kind: "postgres" }
  | { readonly kind: "directory"; readonly path: string }
  | { readonly kind: "s3"; readonly bucket: string; readonly prefix: string }

const bucketName = /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/
const keyPart = /^(?!\.{1,2}$)[A-Za-z0-9!_.*'()-]{1,200}$/

/** Does not quote the value, because it may contain credentials. */
const documentsPlace = (value: string): Result.Result<DocumentsPlace, string> => {
  if (value.toLowerCase() === "postgres") return Result.succeed({ kind: "postgres" })
  const path = /^directory:([^\0]+)$/i.exec(value)?.[1]
  if (path !== undefined) return Result.succeed({ kind: "directory", path })
  const [, bucket = "", key = ""] = /^s3:\/\/([^/]+)(?:\/(.*))?$/i.exec(value) ?? []
  const parts = key.split("/").filter((part) => part !== "")
  return bucketName.test(bucket) && parts.every((part) => keyPart.test(part))
    ? Result.succeed({ kind: "s3", bucket, prefix: parts.map((part) => `${part}/`).join("") })
    : Result.fail("is no place for documents. Write postgres, directory:/srv/documents or s3://bucket/prefix; credentials do not belong into it")
}

/** The name of an area's base path among the variables. */
export const basePathNameOf = <K extends AreaKey>(key: K): `basePath${Capitalize<K>}` => `basePath${key[0]!.toUpperCase()}${key.slice(1)}` as `basePath${Capitalize<K>}`

const basePathVariables = Object.fromEntries(areaOverviews.map(({ area, base, key, name }) =>
  [basePathNameOf(key), withDefault(`WAYBILL_BASE_PATH_${area.replaceAll("-", "_").toUpperCase()}`, base, `base path of ${name.toLowerCase()}`, basePath)])) as Readonly<Record<`basePath${Capitalize<AreaKey>}`, DefaultedVariable<string>>>

/** Operators write these names: a rename is a breaking change. */
export const variables = {
  host: withDefault("WAYBILL_HOST", "127.0.0.1", "listen address", host),
  port: withDefault("WAYBILL_PORT", "8080", "port of the listen address; 0 picks a free port and prints it", port),
  databaseUrl: variableOrFile("WAYBILL_DATABASE_URL", "an embedded Postgres in the data directory", "any Postgres 14 or newer", databaseUrl),
  readDatabaseUrl: variableOrFile(
    "WAYBILL_READ_DATABASE_URL",
    "none: the primary answers all lookups",
    "a standby of that database for lookups; used while it has everything that was committed before them",
    databaseUrl
  ),
  dataDir: withDefault("WAYBILL_DATA_DIR", ".waybill", "the embedded database and generated keys", text((value) => !value.includes("\0"), "is not a path")),
  schema: withDefault("WAYBILL_SCHEMA", "waybill", "the Postgres schema that holds every table", schemaName),
  adminHost: variable("WAYBILL_ADMIN_HOST", "WAYBILL_HOST", "listen address of the operator endpoints, with WAYBILL_ADMIN_PORT", host),
  adminPort: variable(
    "WAYBILL_ADMIN_PORT",
    "none: everything on one port",
    "with a port, /operator, /dashboard, /metrics, /docs and the operator's part of /openapi.json answer there only; 0 picks a free port and prints it",
    port
  ),
  operatorKeys: variableOrFile(
    "WAYBILL_OPERATOR_KEY",
    "generated once, kept in the data directory",
    "keys for /operator, comma separated: key, name:key or name:read:key; at least 20 characters each",
    parseOperatorKeys
  ),
  sealingKeys: variableOrFile(
    "WAYBILL_SEALING_KEY",
    "generated once, kept in the data directory",
    "base64 of 32 bytes; encrypts webhook secrets. Separate several with commas: the first encrypts, all decrypt",
    sealingKeys
  ),
  egress: variable(
    "WAYBILL_EGRESS_ALLOW",
    "nothing",
    "private networks and hosts that webhooks may reach, also over plain http; such as 127.0.0.0/8,receiver.internal",
    egress
  ),
  jwksUrl: variable("WAYBILL_JWT_JWKS_URL", "none", "accept bearer JWTs signed with these keys", webAddress),
  jwtIssuer: variable("WAYBILL_JWT_ISSUER", "none", "the iss that a JWT must have", plain),
  jwtAudience: variable("WAYBILL_JWT_AUDIENCE", "none", "the aud that a JWT must have", plain),
  publicTenant: variable(
    "WAYBILL_PUBLIC_TENANT",
    "the only tenant",
    "the tenant of lookups without credentials, unless a tenant has the request's host",
    tenantId
  ),
  tokenAccessMillis: withDefault(
    "WAYBILL_TOKEN_ACCESS_SECONDS",
    "604800",
    "how long a token client keeps access after its last token was seen; then its subscriptions are held",
    wholeSeconds(60, 31_536_000)
  ),
  othersLookupsPerMinute: withDefault(
    "WAYBILL_OTHERS_LOOKUPS_PER_MINUTE",
    "60",
    "lookups of freight that is not the caller's own, per client or address",
    integer(1, 1_000_000)
  ),
  pickups: withDefault("WAYBILL_PICKUPS", "accept", "accept: an order is accepted at once; desk: it waits for the carrier's decision", oneOf(["accept", "desk"])),
  pickupDeskMillis: withDefault("WAYBILL_PICKUP_DESK_SECONDS", "20", "how long an order waits with WAYBILL_PICKUPS=desk; then the answer is \"call us\"", seconds(0, 300)),
  timeZone: withDefault("WAYBILL_TIME_ZONE", "UTC", "IANA name of the zone whose hours and midnights close hourly and daily freight-charge windows", timeZone),
  role: withDefault("WAYBILL_ROLE", "all", "api answers requests, worker delivers webhooks, all does both", oneOf(["api", "worker", "all"])),
  dashboard: withDefault("WAYBILL_DASHBOARD", "on", "the operator's page at /dashboard", onOff),
  portalFrameAncestors: variable(
    "WAYBILL_PORTAL_FRAME_ANCESTORS",
    "none",
    "origins whose pages may show the portal's page in a frame, separated by commas; such as https://app.example.com",
    frameAncestors
  ),
  portalTheme: variable(
    "WAYBILL_PORTAL_THEME",
    "plain",
    "how the portal's page looks, as JSON with name, accent, background, text, radius and logoUrl; a link may replace each of them",
    portalTheme
  ),
  smtpUrl: variableOrFile("WAYBILL_SMTP_URL", "none: no e-mail is sent", "the mail server for notices to customers and confirmations of pickups, such as smtps://user:password@mail.example.com:465", smtpUrl),
  mailFrom: variable("WAYBILL_MAIL_FROM", "none", "the sender of e-mails, with WAYBILL_SMTP_URL; such as Acme Freight <webhooks@acme.example>", mailFrom),
  noticeAfterMillis: withDefault(
    "WAYBILL_NOTICE_AFTER_SECONDS",
    "14400",
    "how long the oldest entry of a failing endpoint waits before its customer gets a notice",
    wholeSeconds(60, 2_592_000)
  ),
  ediDir: variable("WAYBILL_EDI_DIR", "none: no EDI files are exchanged", "exchanges EDI files with partners: a folder <tenant>/<partner> with a profile.json for each", text((value) => !value.includes("\0"), "is not a path")),
  ediMaxWaitingFiles: withDefault(
    "WAYBILL_EDI_MAX_WAITING_FILES",
    String(defaultEdiLimits.maxWaitingFiles),
    "files in a partner's outbox beyond which it is not read or written for; and in its inbox, beyond which none are fetched",
    integer(1, 10_000)
  ),
  demo: variable("WAYBILL_DEMO", "on with the embedded database, no operator key given and the role all, else off", "seeds a demo tenant and plays a journey", onOff),
  publicUrl: variable("WAYBILL_PUBLIC_URL", "taken from each request", "the public address, for links in responses", webAddress),
  trustProxy: withDefault("WAYBILL_TRUST_PROXY", "off", "trust X-Forwarded-Proto, -Host and -For; only behind a proxy that sets them", onOff),
  ...basePathVariables,
  documents: withDefault(
    "WAYBILL_DOCUMENTS",
    "postgres",
    "where document files are stored: postgres, directory:/path (the same one for every process) or s3://bucket/prefix (region and credentials by AWS_REGION, AWS_ACCESS_KEY_ID and the like)",
    documentsPlace
  ),
  documentsAlso: variable(
    "WAYBILL_DOCUMENTS_ALSO",
    "none",
    "another place that has document files, after WAYBILL_DOCUMENTS was changed; files are read and deleted there, and none are added",
    documentsPlace
  ),
  s3Endpoint: variable("WAYBILL_S3_ENDPOINT", "Amazon S3", "the address of another S3-compatible store; buckets are addressed by path", webAddress),
  poolSize: withDefault("WAYBILL_POOL_SIZE", "20", "maximum number of database connections", integer(2, 1000)),
  statementTimeoutMillis: withDefault(
    "WAYBILL_STATEMENT_TIMEOUT_SECONDS",
    "45",
    "the database cancels a statement that runs longer; migrations have no timeout",
    seconds(1, 3600)
  ),
  idleTransactionTimeoutMillis: withDefault(
    "WAYBILL_IDLE_TRANSACTION_TIMEOUT_SECONDS",
    "10",
    "the database ends a transaction that is idle for longer",
    seconds(1, 3600)
  ),
  leaseMillis: withDefault(
    "WAYBILL_LEASE_SECONDS",
    inSeconds(DeliveryOptions.defaults.leaseMillis),
    "after this time other processes take over a killed process's deliveries; must be longer than an attempt",
    seconds(1, 3600)
  ),
  attemptTimeoutMillis: withDefault("WAYBILL_ATTEMPT_TIMEOUT_SECONDS", inSeconds(DeliveryOptions.defaults.attemptTimeoutMillis), "timeout of one webhook POST, including the response", seconds(0.1, 600)),
  drainMillis: withDefault("WAYBILL_DRAIN_SECONDS", inSeconds(DeliveryOptions.defaults.drainMillis), "how long a stop waits for requests and attempts in flight", seconds(0, 600)),
  drainDelayMillis: variable(
    "WAYBILL_DRAIN_DELAY_SECONDS",
    "5; 0 in a terminal",
    "how long a process that gets SIGTERM is not ready and still serves, so that load balancers notice",
    seconds(0, 600)
  ),
  keepSettledMillis: withDefault("WAYBILL_KEEP_DAYS", inDays(DeliveryOptions.defaults.keepSettledMillis), "how long finished deliveries stay visible to operators, and what is left of deleted subscriptions is kept", days),
  keepDeliveredShipmentsMillis: withDefault("WAYBILL_KEEP_DELIVERED_DAYS", "365", "how long shipments can be looked up after delivery to the consignee", days),
  keepEndedBillsMillis: withDefault("WAYBILL_KEEP_ENDED_BILLS_DAYS", "365", "how long freight bills are kept after they were invoiced or removed", days),
  keepPickupsMillis: withDefault("WAYBILL_KEEP_PICKUPS_DAYS", "365", "how long pickups are kept after they were ordered, in any state, unless a change of them is still to be sent", days),
  keepAuditMillis: withDefault("WAYBILL_KEEP_AUDIT_DAYS", "400", "how long entries of the audit log are kept", days),
  keepStatisticsMillis: withDefault("WAYBILL_KEEP_STATISTICS_DAYS", "90", "how long delivery statistics by hour are kept; those by minute are kept for a day", days),
  keepEdiFilesMillis: withDefault("WAYBILL_KEEP_EDI_FILES_DAYS", inDays(defaultEdiLimits.keepMillis), "how long EDI files are kept after they were read or sent", days),
  keepNoticesMillis: withDefault("WAYBILL_KEEP_NOTICES_DAYS", "180", "how long bodies of status and charge notifications, and cancelled subscriptions to charges, are kept; never less than deliveries", days),
  logFormat: variable("WAYBILL_LOG_FORMAT", "pretty on a terminal, else json", "json or pretty", oneOf(["json", "pretty"])),
  logLevel: withDefault("WAYBILL_LOG_LEVEL", "info", "lowest level that is logged: debug, info, warn or error", oneOf(["debug", "info", "warn", "error"])),
  otlpEndpoint: variable(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "none",
    "destination of traces and metrics; the other OTEL_ variables apply too",
    webAddress
  ),
  otlpTracesEndpoint: variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "/v1/traces at OTEL_EXPORTER_OTLP_ENDPOINT", "destination of traces", webAddress),
  otlpMetricsEndpoint: variable("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "/v1/metrics at OTEL_EXPORTER_OTLP_ENDPOINT", "destination of metrics", webAddress)
} as const

export const variableNames: ReadonlyArray<string> = Object.values<Variable<unknown>>(variables)
  .flatMap(({ hasFile, name }) => hasFile === true ? [name, fileNameOf(name)] : [name])
