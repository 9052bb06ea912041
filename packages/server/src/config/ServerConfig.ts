/** All settings of the server, read once at startup. */
import type { RetentionOptions } from "@waybill/core"
import { type AreaKey, areaOverviews, type BasePaths, defaultBasePaths, isOpenedHost, publicOnly, refusalOfJwksUrl } from "@waybill/http"
import { Effect, Redacted, Schema, Struct } from "effect"
import { resolve } from "node:path"
import { printable } from "../Printable.ts"
import { type DefaultedVariable, defaultOf, readVariable, type Variable, type VariableFault } from "./Variable.ts"
import { namesOfOthers } from "./UnknownNames.ts"
import { basePathNameOf, dayMillis, type DocumentsPlace, variables } from "./Variables.ts"

/** Paths are absolute. A member is `undefined` where nothing is set and no default applies. */
export interface ServerConfig extends Readonly<ReturnType<typeof configOf>> {}

/** Invalid settings; lists all of them. */
export class ConfigInvalid extends Schema.TaggedError<ConfigInvalid>()("ConfigInvalid", {
  faults: Schema.Array(Schema.Struct({ variable: Schema.String, problem: Schema.String }))
}) {
  override get message(): string {
    return this.faults.map(({ problem, variable }) => `${variable} ${problem}.`).join("\n")
  }
}

/** Reads the settings from the current `ConfigProvider`. `names` are the existing variables, to detect misspelled ones. */
export const readServerConfig = Effect.fnUntraced(function*(environment: Environment) {
  const names = namesOfOthers(environment.names)
  const faults: Array<VariableFault> = [...names.faults]
  const given = yield* readAll(faults)
  const basePaths = basePathsOf(given)
  const places = documentsPlacesOf(given, environment.directory)
  faults.push(...conflicts(given, faults), ...overlaps(basePaths), ...samePlaces(places))
  // values are quoted, and names are as found: both are printed to a terminal
  if (faults.length > 0) return yield* new ConfigInvalid({ faults: faults.map(({ problem, variable }) => ({ variable: printable(variable), problem: printable(problem) })) })

  const config: ServerConfig = configOf(given, environment, basePaths, places)
  return { ...config, warnings: [...config.warnings, ...names.warnings.map(printable)] }
})

interface Environment {
  readonly names: ReadonlyArray<string>
  readonly isTerminal: boolean
  readonly directory: string
}

type Given = {
  readonly [Name in keyof typeof variables]: (typeof variables)[Name] extends DefaultedVariable<infer A> ? A
    : (typeof variables)[Name] extends Variable<infer A> ? A | undefined
    : never
}

const readAll = (faults: Array<VariableFault>): Effect.Effect<Given> =>
  Effect.map(
    Effect.forEach(Object.entries(variables), ([name, variable]) =>
      Effect.map(readVariable<unknown>(variable, faults), (value) => [name, value ?? defaultOf<unknown>(variable)] as const)),
    (entries) => Object.fromEntries(entries) as Given
  )

const configOf = (given: Given, { directory, isTerminal }: Environment, basePaths: AreaPaths, places: DocumentsPlaces) => {
  const { jwksUrl, jwtAudience, jwtIssuer } = given
  return {
    /** Without a database, the embedded one is used; without keys, they are generated; without an S3 endpoint, it is Amazon's. */
    ...Struct.pick(given, [
      "host", "port", "databaseUrl", "readDatabaseUrl", "schema", "operatorKeys", "sealingKeys", "publicTenant", "pickups", "timeZone", "role", "dashboard",
      "publicUrl", "trustProxy", "s3Endpoint", "poolSize", "tokenAccessMillis", "othersLookupsPerMinute", "pickupDeskMillis", "noticeAfterMillis",
      "statementTimeoutMillis", "idleTransactionTimeoutMillis", "drainMillis"
    ]),
    /** Address of a separate operator listener; `undefined`: shared with the other calls. */
    admin: given.adminPort === undefined ? undefined : { host: given.adminHost ?? given.host, port: given.adminPort },
    dataDir: resolve(directory, given.dataDir),
    egress: given.egress?.policy ?? publicOnly,
    egressText: given.egress?.text ?? "",
    jwt: jwksUrl === undefined || jwtIssuer === undefined || jwtAudience === undefined
      ? undefined
      : { jwksUrl, issuer: jwtIssuer, audience: jwtAudience, allowHttpHosts: httpHostsOf(given) },
    demo: given.demo ?? (given.databaseUrl === undefined && given.operatorKeys === undefined && given.role === "all"),
    /** `undefined`: no EDI files are exchanged. */
    ediDir: given.ediDir === undefined ? undefined : resolve(directory, given.ediDir),
    ediLimits: { keepMillis: given.keepEdiFilesMillis, maxWaitingFiles: given.ediMaxWaitingFiles },
    /** The carrier of the demo sends its events as EDI. An option of `waybill demo` sets it. */
    demoEdi: false as boolean,
    /** Origins that may show the portal's page in a frame. */
    portalFrameAncestors: given.portalFrameAncestors ?? [],
    portalTheme: given.portalTheme ?? {},
    /** `undefined`: no e-mail is sent. */
    mail: given.smtpUrl === undefined || given.mailFrom === undefined ? undefined : { url: given.smtpUrl, from: given.mailFrom },
    basePaths,
    ...places,
    delivery: Struct.pick(given, ["leaseMillis", "attemptTimeoutMillis", "drainMillis", "keepSettledMillis"]),
    retention: Struct.pick(given, [
      "keepDeliveredShipmentsMillis", "keepEndedBillsMillis", "keepNoticesMillis", "keepPickupsMillis", "keepAuditMillis", "keepStatisticsMillis"
    ]) satisfies ReturnType<typeof RetentionOptions.defaultValue>,
    /** How long a stopping process is not ready and still serves. */
    drainDelayMillis: given.drainDelayMillis ?? (isTerminal ? 0 : 5_000),
    logFormat: given.logFormat ?? (isTerminal ? "pretty" : "json"),
    logLevel: logLevels[given.logLevel],
    /** Whether traces or metrics are exported. */
    telemetry: (given.otlpEndpoint ?? given.otlpTracesEndpoint ?? given.otlpMetricsEndpoint) !== undefined,
    /** Settings that are valid but probably unintended. */
    warnings: warningsOf(given)
  }
}

type AreaPaths = Pick<BasePaths, AreaKey>

const basePathsOf = (given: Given): AreaPaths =>
  Object.fromEntries(areaOverviews.map(({ key }) => [key, given[basePathNameOf(key)]])) as AreaPaths

interface DocumentsPlaces {
  readonly documents: DocumentsPlace
  /** Another place that has older documents. */
  readonly documentsAlso: DocumentsPlace | undefined
}

const documentsPlacesOf = ({ documents, documentsAlso }: Given, directory: string): DocumentsPlaces => {
  const absolute = (place: DocumentsPlace): DocumentsPlace => place.kind === "directory" ? { kind: "directory", path: resolve(directory, place.path) } : place
  return { documents: absolute(documents), documentsAlso: documentsAlso === undefined ? undefined : absolute(documentsAlso) }
}

const samePlaces = ({ documents, documentsAlso }: DocumentsPlaces): ReadonlyArray<VariableFault> =>
  documentsAlso === undefined || documentsText(documentsAlso) !== documentsText(documents) ? [] : [{
    variable: variables.documentsAlso.name,
    problem: `is the same place as ${variables.documents.name}. Name the place of the older documents, or remove this variable`
  }]

/** The JWKS host, if it may be reached over plain http: this machine, or hosts that the operator allowed. */
const httpHostsOf = ({ egress, jwksUrl }: Given): ReadonlyArray<string> => {
  const host = jwksUrl === undefined ? undefined : URL.parse(jwksUrl)?.hostname
  if (host === undefined) return []
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(host)
  return isLoopback || isOpenedHost(host, egress?.policy ?? publicOnly) ? [host] : []
}

/** Settings that are valid alone, but not in combination. */
const conflicts = (given: Given, known: ReadonlyArray<VariableFault>): ReadonlyArray<VariableFault> => {
  const found: Array<VariableFault> = []
  const { attemptTimeoutMillis, leaseMillis } = given
  if (leaseMillis <= attemptTimeoutMillis) {
    found.push({ variable: variables.leaseMillis.name, problem: `is ${leaseMillis / 1000} and ${variables.attemptTimeoutMillis.name} is ${attemptTimeoutMillis / 1000}. A lease has to be longer than an attempt` })
  }
  const jwt = [variables.jwksUrl, variables.jwtIssuer, variables.jwtAudience].map(({ name }) => name)
  const parts = [given.jwksUrl, given.jwtIssuer, given.jwtAudience]
  if (parts.some((part) => part !== undefined)) {
    for (const [index, name] of jwt.entries()) {
      if (parts[index] === undefined && !known.some(({ variable }) => variable === name)) {
        found.push({ variable: name, problem: `is missing. To accept JWTs, set ${jwt.join(", ")} together` })
      }
    }
  }
  const refusedJwks = given.jwksUrl === undefined ? undefined : refusalOfJwksUrl({ jwksUrl: given.jwksUrl, allowHttpHosts: httpHostsOf(given) })
  if (refusedJwks !== undefined) {
    found.push({ variable: variables.jwksUrl.name, problem: `${refusedJwks}, or add its host to ${variables.egress.name} if it is in your own network` })
  }
  if (given.readDatabaseUrl !== undefined && given.databaseUrl === undefined && !known.some(({ variable }) => variable.startsWith(variables.databaseUrl.name))) {
    found.push({ variable: variables.readDatabaseUrl.name, problem: `is set and ${variables.databaseUrl.name} is not. The embedded Postgres has no standby; set both, or remove it` })
  }
  if (given.adminHost !== undefined && given.adminPort === undefined) {
    found.push({ variable: variables.adminHost.name, problem: `is set and ${variables.adminPort.name} is not. Set a port as well, or remove it` })
  }
  if (given.adminPort !== undefined && given.adminPort !== 0 && given.adminPort === given.port && (given.adminHost ?? given.host) === given.host) {
    found.push({ variable: variables.adminPort.name, problem: `is ${given.adminPort}, and so is ${variables.port.name}. Use another port for the operator API` })
  }
  if ((given.smtpUrl === undefined) !== (given.mailFrom === undefined)) {
    const [set, missing] = given.mailFrom === undefined ? [variables.smtpUrl, variables.mailFrom] : [variables.mailFrom, variables.smtpUrl]
    if (!known.some(({ variable }) => variable.startsWith(missing.name))) found.push({ variable: missing.name, problem: `is missing, and ${set.name} is set. To send e-mail, set both` })
  }
  if (given.demo === true && given.role !== "all") {
    found.push({ variable: variables.demo.name, problem: `is on and ${variables.role.name} is ${given.role}. The demo needs the role all` })
  }
  if (given.s3Endpoint !== undefined && given.documents.kind !== "s3" && given.documentsAlso?.kind !== "s3" && !known.some(({ variable }) => variable === variables.documents.name)) {
    found.push({ variable: variables.s3Endpoint.name, problem: `is set and ${variables.documents.name} is not in S3. Set that to s3://bucket/prefix, or remove this variable` })
  }
  return found
}

/** Paths that the server uses besides the five areas. */
const reservedPaths = [defaultBasePaths.intake, defaultBasePaths.operator, defaultBasePaths.portal, "/dashboard", "/docs", "/edi", "/healthz", "/metrics", "/openapi", "/openapi.json", "/readyz"]

/** No base path may contain another, because a path would be ambiguous. */
const overlaps = (bases: AreaPaths): ReadonlyArray<VariableFault> => {
  const named = areaOverviews.map(({ key }) => ({ variable: variables[basePathNameOf(key)].name, base: bases[key] }))
  return named.flatMap(({ base, variable }, index) => {
    const other = [...named.slice(0, index).map((each) => each.base), ...reservedPaths].find((path) => within(path, base) || within(base, path))
    return other === undefined ? [] : [{ variable, problem: `is ${base}, and ${other} is in use. Use a separate path for each area` }]
  })
}

const within = (outer: string, inner: string): boolean => `${inner}/`.startsWith(`${outer}/`)

const warningsOf = (given: Given): ReadonlyArray<string> =>
  given.databaseUrl !== undefined && given.sealingKeys === undefined
    ? [
      `${variables.sealingKeys.name} is not set, so this machine encrypts webhook secrets with a generated key. Other machines on the same database cannot decrypt them: set the same key for every process.`
    ]
    : []

const logLevels = { debug: "Debug", info: "Info", warn: "Warn", error: "Error" } as const

/** The settings without secrets, for the first log line. */
export const summaryOf = (config: ServerConfig): Readonly<Record<string, string | number | boolean>> => ({
  role: config.role,
  database: config.databaseUrl === undefined ? "embedded" : databaseLocation(config.databaseUrl),
  ...(config.readDatabaseUrl === undefined ? {} : { readDatabase: databaseLocation(config.readDatabaseUrl) }),
  schema: config.schema,
  dataDir: config.dataDir,
  operatorKeys: config.operatorKeys === undefined ? "generated" : config.operatorKeys.map(({ name, readOnly }) => readOnly ? `${name} (read-only)` : name).join(", "),
  admin: config.admin === undefined ? "on the same port" : `${config.admin.host}, port ${config.admin.port}`,
  sealingKey: config.sealingKeys === undefined ? "generated" : config.sealingKeys.length === 1 ? "given" : `${config.sealingKeys.length} given`,
  egressAllow: config.egressText === "" ? "nothing" : config.egressText,
  jwt: config.jwt?.jwksUrl ?? "off",
  publicTenant: config.publicTenant ?? "the only one",
  tokenAccessSeconds: config.tokenAccessMillis / 1000,
  othersLookupsPerMinute: config.othersLookupsPerMinute,
  pickups: config.pickups === "accept" ? "accept" : `desk, ${config.pickupDeskMillis / 1000} s`,
  timeZone: config.timeZone,
  basePaths: Object.values(config.basePaths).join(" "),
  documents: documentsText(config.documents),
  ...(config.documentsAlso === undefined ? {} : { documentsAlso: documentsText(config.documentsAlso) }),
  ...(config.s3Endpoint === undefined ? {} : { s3Endpoint: config.s3Endpoint }),
  poolSize: config.poolSize,
  statementTimeoutSeconds: config.statementTimeoutMillis / 1000,
  idleTransactionTimeoutSeconds: config.idleTransactionTimeoutMillis / 1000,
  leaseSeconds: config.delivery.leaseMillis / 1000,
  attemptTimeoutSeconds: config.delivery.attemptTimeoutMillis / 1000,
  drainSeconds: config.drainMillis / 1000,
  drainDelaySeconds: config.drainDelayMillis / 1000,
  keepDays: inDays(config.delivery.keepSettledMillis),
  keepDeliveredDays: inDays(config.retention.keepDeliveredShipmentsMillis),
  keepEndedBillsDays: inDays(config.retention.keepEndedBillsMillis),
  keepNoticesDays: inDays(config.retention.keepNoticesMillis),
  keepPickupsDays: inDays(config.retention.keepPickupsMillis),
  keepAuditDays: inDays(config.retention.keepAuditMillis),
  keepStatisticsDays: inDays(config.retention.keepStatisticsMillis),
  telemetry: config.telemetry,
  demo: config.demo,
  edi: config.ediDir ?? "off",
  ediMaxWaitingFiles: config.ediLimits.maxWaitingFiles,
  keepEdiFilesDays: inDays(config.ediLimits.keepMillis),
  dashboard: config.dashboard,
  mail: config.mail === undefined ? "off" : `${new URL(Redacted.value(config.mail.url)).host}, from ${config.mail.from}`,
  noticeAfterSeconds: config.noticeAfterMillis / 1000,
  portalFrameAncestors: config.portalFrameAncestors.length === 0 ? "none" : config.portalFrameAncestors.join(" ")
})

const inDays = (millis: number): number => millis / dayMillis

/** The setting as an operator writes it. */
export const documentsText = (place: DocumentsPlace): string =>
  place.kind === "s3" ? `s3://${place.bucket}/${place.prefix}` : place.kind === "directory" ? `directory:${place.path}` : place.kind

/** Location of a database without credentials. The query may contain a password too, so it is left out. */
export const databaseLocation = (url: Redacted.Redacted): string => {
  const { host, pathname } = new URL(Redacted.value(url))
  return `${host}${pathname}`
}
