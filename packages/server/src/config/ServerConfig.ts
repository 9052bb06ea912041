/** What the operator decided: every setting of the server, read once at start. */
import { DeliveryOptions } from "@waybill/core"
import { type EgressPolicy, type JwtOptions, publicOnly } from "@waybill/http"
import { Effect, type LogLevel, Redacted, Schema } from "effect"
import { resolve } from "node:path"
import { readVariable, type VariableFault } from "./Variable.ts"
import { variableNames, variables } from "./Variables.ts"

export type Role = "api" | "worker" | "all"

export type SealingKeys = readonly [Redacted.Redacted<Uint8Array>, ...ReadonlyArray<Redacted.Redacted<Uint8Array>>]

export interface ServerConfig {
  readonly host: string
  readonly port: number
  /** `undefined`: the embedded one. */
  readonly databaseUrl: Redacted.Redacted | undefined
  /** Absolute. */
  readonly dataDir: string
  readonly schema: string
  /** `undefined`: generated. */
  readonly operatorKey: Redacted.Redacted | undefined
  /** `undefined`: generated. */
  readonly sealingKeys: SealingKeys | undefined
  readonly egress: EgressPolicy
  readonly egressText: string
  readonly jwt: JwtOptions | undefined
  readonly publicTenant: string | undefined
  readonly role: Role
  readonly demo: boolean
  readonly publicUrl: string | undefined
  readonly trustProxy: boolean
  readonly poolSize: number
  readonly delivery: Partial<DeliveryOptions["Service"]>
  readonly drainMillis: number
  readonly logFormat: "json" | "pretty"
  readonly logLevel: LogLevel.LogLevel
  /** Whether traces and metrics are sent somewhere. */
  readonly telemetry: boolean
  /** What works, but was probably not meant. */
  readonly warnings: ReadonlyArray<string>
}

/** Settings that cannot be used; all of them, not only the first. */
export class ConfigInvalid extends Schema.TaggedError<ConfigInvalid>()("ConfigInvalid", {
  faults: Schema.Array(Schema.Struct({ variable: Schema.String, problem: Schema.String }))
}) {
  override get message(): string {
    return this.faults.map(({ problem, variable }) => `${variable} ${problem}.`).join("\n")
  }
}

/** Reads the settings from the current `ConfigProvider`. `names` are the variables there are, to find misspelt ones. */
export const readServerConfig = Effect.fnUntraced(function*(environment: {
  readonly names: ReadonlyArray<string>
  readonly isTerminal: boolean
  readonly directory: string
}) {
  const faults: Array<VariableFault> = [...misspelt(environment.names)]
  const given = {
    host: yield* readVariable(variables.host, faults),
    port: yield* readVariable(variables.port, faults),
    databaseUrl: yield* readVariable(variables.databaseUrl, faults),
    dataDir: yield* readVariable(variables.dataDir, faults),
    schema: yield* readVariable(variables.schema, faults),
    operatorKey: yield* readVariable(variables.operatorKey, faults),
    sealingKeys: yield* readVariable(variables.sealingKeys, faults),
    egress: yield* readVariable(variables.egress, faults),
    jwksUrl: yield* readVariable(variables.jwksUrl, faults),
    jwtIssuer: yield* readVariable(variables.jwtIssuer, faults),
    jwtAudience: yield* readVariable(variables.jwtAudience, faults),
    publicTenant: yield* readVariable(variables.publicTenant, faults),
    role: yield* readVariable(variables.role, faults),
    demo: yield* readVariable(variables.demo, faults),
    publicUrl: yield* readVariable(variables.publicUrl, faults),
    trustProxy: yield* readVariable(variables.trustProxy, faults),
    poolSize: yield* readVariable(variables.poolSize, faults),
    lease: yield* readVariable(variables.lease, faults),
    attemptTimeout: yield* readVariable(variables.attemptTimeout, faults),
    drain: yield* readVariable(variables.drain, faults),
    keepDays: yield* readVariable(variables.keepDays, faults),
    logFormat: yield* readVariable(variables.logFormat, faults),
    logLevel: yield* readVariable(variables.logLevel, faults),
    otlpEndpoint: yield* readVariable(variables.otlpEndpoint, faults)
  }
  const { defaults } = DeliveryOptions
  const leaseMillis = given.lease ?? defaults.leaseMillis
  const attemptTimeoutMillis = given.attemptTimeout ?? defaults.attemptTimeoutMillis
  const drainMillis = given.drain ?? defaults.drainMillis
  const role = given.role ?? "all"
  const warnings: Array<string> = []

  if (leaseMillis <= attemptTimeoutMillis) {
    faults.push({
      variable: variables.lease.name,
      problem: `is ${leaseMillis / 1000} and ${variables.attemptTimeout.name} is ${attemptTimeoutMillis / 1000}. A lease has to be longer than an attempt`
    })
  }
  const jwt = [variables.jwksUrl, variables.jwtIssuer, variables.jwtAudience]
  const [jwksUrl, issuer, audience] = [given.jwksUrl, given.jwtIssuer, given.jwtAudience]
  if ((jwksUrl ?? issuer ?? audience) !== undefined) {
    for (const [index, value] of [jwksUrl, issuer, audience].entries()) {
      const { name } = jwt[index]!
      if (value === undefined && !faults.some(({ variable }) => variable === name)) {
        faults.push({ variable: name, problem: `is missing. To accept JWTs safely, ${jwt.map((each) => each.name).join(", ")} are needed together` })
      }
    }
  }
  if (given.demo === true && role !== "all") {
    faults.push({ variable: variables.demo.name, problem: `is on and ${variables.role.name} is ${role}. The demo needs a process that does everything` })
  }
  if (faults.length > 0) return yield* new ConfigInvalid({ faults })

  if (given.operatorKey !== undefined && Redacted.value(given.operatorKey).length < 20) {
    warnings.push(`${variables.operatorKey.name} is short and may be guessed. Take the output of: openssl rand -hex 32`)
  }
  if (given.databaseUrl !== undefined && given.sealingKeys === undefined) {
    warnings.push(
      `${variables.sealingKeys.name} is not set, so this machine seals webhook secrets with a key of its own. Other machines on the same database cannot open them: give every process the same key.`
    )
  }
  const config: ServerConfig = {
    host: given.host ?? "127.0.0.1",
    port: given.port ?? 8080,
    databaseUrl: given.databaseUrl,
    dataDir: resolve(environment.directory, given.dataDir ?? ".waybill"),
    schema: given.schema ?? "waybill",
    operatorKey: given.operatorKey,
    sealingKeys: given.sealingKeys,
    egress: given.egress?.policy ?? publicOnly,
    egressText: given.egress?.text ?? "",
    jwt: jwksUrl === undefined || issuer === undefined || audience === undefined ? undefined : { jwksUrl, issuer, audience },
    publicTenant: given.publicTenant,
    role,
    demo: given.demo ?? (given.databaseUrl === undefined && given.operatorKey === undefined && role === "all"),
    publicUrl: given.publicUrl,
    trustProxy: given.trustProxy ?? false,
    poolSize: given.poolSize ?? 20,
    delivery: { leaseMillis, attemptTimeoutMillis, drainMillis, keepSettledMillis: (given.keepDays ?? 30) * 86_400_000 },
    drainMillis,
    logFormat: given.logFormat ?? (environment.isTerminal ? "pretty" : "json"),
    logLevel: logLevels[given.logLevel ?? "info"],
    telemetry: given.otlpEndpoint !== undefined,
    warnings
  }
  return config
})

const logLevels = { debug: "Debug", info: "Info", warn: "Warn", error: "Error" } as const

/** What may be shown of the settings, for the first line of the log. */
export const summaryOf = (config: ServerConfig): Readonly<Record<string, string | number | boolean>> => ({
  role: config.role,
  database: config.databaseUrl === undefined ? "embedded" : placeOf(config.databaseUrl),
  schema: config.schema,
  dataDir: config.dataDir,
  operatorKey: config.operatorKey === undefined ? "generated" : "given",
  sealingKey: config.sealingKeys === undefined ? "generated" : config.sealingKeys.length === 1 ? "given" : `${config.sealingKeys.length} given`,
  egressAllow: config.egressText === "" ? "nothing" : config.egressText,
  jwt: config.jwt?.jwksUrl ?? "off",
  publicTenant: config.publicTenant ?? "none",
  poolSize: config.poolSize,
  leaseSeconds: config.delivery.leaseMillis! / 1000,
  attemptTimeoutSeconds: config.delivery.attemptTimeoutMillis! / 1000,
  drainSeconds: config.drainMillis / 1000,
  telemetry: config.telemetry,
  demo: config.demo
})

/** Where a database is, without who logs in. Passwords may also stand in the query. */
export const placeOf = (url: Redacted.Redacted): string => {
  const { host, pathname } = new URL(Redacted.value(url))
  return `${host}${pathname}`
}

/** Names a slip away from one of ours. Others may be anybody's: a client's settings, or what Kubernetes sets. */
const misspelt = (names: ReadonlyArray<string>): ReadonlyArray<VariableFault> =>
  names.filter((name) => name.startsWith("WAYBILL_") && !variableNames.includes(name)).flatMap((name) => {
    const slips = name.length > "WAYBILL_".length + 6 ? 2 : 1
    const meant = variableNames.find((known) => distance(name, known) <= slips)
    return meant === undefined ? [] : [{ variable: name, problem: `is not known; ${meant} is. Correct the name, or take it out` }]
  })

/** How many letters have to be added, left out, changed or swapped. */
const distance = (a: string, b: string): number => {
  let previous: Array<number> = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const before = previous
    previous = row
    row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1)
      row.push(cost)
    }
  }
  return row[b.length]!
}
