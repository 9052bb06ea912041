import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { readServerConfig, summaryOf } from "../../src/config/ServerConfig.ts"
import type { Variable } from "../../src/config/Variable.ts"
import { variableNames, variables } from "../../src/config/Variables.ts"
import { leaked } from "../program/Program.ts"

const read = (env: Readonly<Record<string, string>>) =>
  readServerConfig({ names: Object.keys(env), isTerminal: false, directory: "/srv" }).pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord({ ...env }))
  )

/** The invalid settings, by variable. */
const faultsOf = (env: Readonly<Record<string, string>>) =>
  Effect.map(Effect.flip(read(env)), (error) => Object.fromEntries(error.faults.map(({ problem, variable }) => [variable, problem])))

const operatorKey = "0123456789abcdef0123456789abcdef"
const sealingKey = Buffer.alloc(32, 7).toString("base64")

describe("ServerConfig", () => {
  it.effect("has defaults for everything: loopback, port 8080, no trusted proxy, an embedded database, the demo", Effect.fnUntraced(function*() {
    const config = yield* read({})
    assert.strictEqual(config.host, "127.0.0.1")
    assert.strictEqual(config.port, 8080)
    assert.strictEqual(config.databaseUrl, undefined)
    assert.strictEqual(config.dataDir, resolve("/srv/.waybill"))
    assert.strictEqual(config.schema, "waybill")
    assert.strictEqual(config.role, "all")
    assert.isTrue(config.demo)
    assert.isFalse(config.trustProxy)
    assert.strictEqual(config.timeZone, "UTC")
    assert.strictEqual(config.othersLookupsPerMinute, 60)
    assert.deepStrictEqual(config.basePaths, {
      shipmentStatus: "/in-transit/v1",
      invoices: "/invoicing",
      pickups: "/pickup",
      transitEvents: "/visibility",
      freightCharges: "/pfc"
    })
    assert.deepStrictEqual(config.documents, { kind: "postgres" })
    assert.deepStrictEqual(config.retention, {
      keepDeliveredShipmentsMillis: 365 * 86_400_000,
      keepEndedBillsMillis: 365 * 86_400_000,
      keepNoticesMillis: 180 * 86_400_000,
      keepPickupsMillis: 365 * 86_400_000,
      keepAuditMillis: 400 * 86_400_000,
      keepStatisticsMillis: 90 * 86_400_000
    })
    assert.strictEqual(config.logFormat, "json")
    assert.deepStrictEqual(config.warnings, [])
  }))

  it.effect("has the defaults that its list of variables says", Effect.fnUntraced(function*() {
    const said = Object.values<Variable<unknown>>(variables).filter(({ isRead }) => isRead === true)
    assert.isAbove(said.length, 30)
    const given = yield* read(Object.fromEntries(said.map(({ fallback, name }) => [name, fallback])))
    assert.deepStrictEqual(given, yield* read({}))
  }))

  it.effect("disables the demo with a configured database or operator key, unless set", Effect.fnUntraced(function*() {
    const databaseUrl = "postgres://waybill:secret@db.internal/waybill"
    assert.isFalse((yield* read({ WAYBILL_DATABASE_URL: databaseUrl, WAYBILL_SEALING_KEY: sealingKey })).demo)
    assert.isFalse((yield* read({ WAYBILL_OPERATOR_KEY: "0123456789abcdef0123456789abcdef" })).demo)
    assert.isFalse((yield* read({ WAYBILL_DEMO: "off" })).demo)
    assert.isFalse((yield* read({ WAYBILL_ROLE: "worker" })).demo)
    assert.isTrue((yield* read({ WAYBILL_OPERATOR_KEY: "0123456789abcdef0123456789abcdef", WAYBILL_DEMO: "true" })).demo)
  }))

  it.effect("serves for five seconds after SIGTERM, not at all in a terminal, or as long as configured", Effect.fnUntraced(function*() {
    assert.strictEqual((yield* read({})).drainDelayMillis, 5_000)
    assert.strictEqual((yield* read({ WAYBILL_DRAIN_DELAY_SECONDS: "0" })).drainDelayMillis, 0)
    const inTerminal = readServerConfig({ names: [], isTerminal: true, directory: "/srv" }).pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord({}))
    )
    assert.strictEqual((yield* inTerminal).drainDelayMillis, 0)
    assert.property(yield* faultsOf({ WAYBILL_DRAIN_DELAY_SECONDS: "soon" }), "WAYBILL_DRAIN_DELAY_SECONDS")
  }))

  it.effect("enables the dashboard by default, and reserves its path", Effect.fnUntraced(function*() {
    assert.isTrue((yield* read({})).dashboard)
    assert.isFalse((yield* read({ WAYBILL_DASHBOARD: "off" })).dashboard)
    assert.include((yield* faultsOf({ WAYBILL_BASE_PATH_INVOICES: "/dashboard/invoices" }))["WAYBILL_BASE_PATH_INVOICES"], "/dashboard is in use")
  }))

  it.effect("reads days, a time zone, a lookup limit and base paths of the areas", Effect.fnUntraced(function*() {
    const config = yield* read({
      WAYBILL_KEEP_DELIVERED_DAYS: "90",
      WAYBILL_KEEP_ENDED_BILLS_DAYS: "60",
      WAYBILL_KEEP_NOTICES_DAYS: "31",
      WAYBILL_KEEP_PICKUPS_DAYS: "90",
      WAYBILL_TIME_ZONE: "America/Chicago",
      WAYBILL_OTHERS_LOOKUPS_PER_MINUTE: "5",
      WAYBILL_BASE_PATH_SHIPMENT_STATUS: "freight/status/",
      WAYBILL_BASE_PATH_INVOICES: "/freight/invoices",
      WAYBILL_BASE_PATH_PICKUPS: "/freight/pickups/",
      WAYBILL_BASE_PATH_TRANSIT_EVENTS: "/freight/events",
      WAYBILL_BASE_PATH_FREIGHT_CHARGES: "/freight/statuses"
    })
    assert.deepStrictEqual(config.retention, {
      keepDeliveredShipmentsMillis: 90 * 86_400_000,
      keepEndedBillsMillis: 60 * 86_400_000,
      keepNoticesMillis: 31 * 86_400_000,
      keepPickupsMillis: 90 * 86_400_000,
      keepAuditMillis: 400 * 86_400_000,
      keepStatisticsMillis: 90 * 86_400_000
    })
    assert.strictEqual(config.timeZone, "America/Chicago")
    assert.strictEqual(config.othersLookupsPerMinute, 5)
    assert.deepStrictEqual(config.basePaths, {
      shipmentStatus: "/freight/status",
      invoices: "/freight/invoices",
      pickups: "/freight/pickups",
      transitEvents: "/freight/events",
      freightCharges: "/freight/statuses"
    })
    const summary = summaryOf(config)
    assert.strictEqual(summary["basePaths"], "/freight/status /freight/invoices /freight/pickups /freight/events /freight/statuses")
    assert.strictEqual(summary["keepNoticesDays"], 31)
    assert.strictEqual(summary["timeZone"], "America/Chicago")
  }))

  it.effect("accepts pickups at once, or lets them wait for the carrier", Effect.fnUntraced(function*() {
    const config = yield* read({})
    assert.deepStrictEqual([config.pickups, config.pickupDeskMillis], ["accept", 20_000])
    const desk = yield* read({ WAYBILL_PICKUPS: "desk", WAYBILL_PICKUP_DESK_SECONDS: "7.5" })
    assert.deepStrictEqual([desk.pickups, desk.pickupDeskMillis, summaryOf(desk)["pickups"]], ["desk", 7500, "desk, 7.5 s"])
    assert.deepStrictEqual(Object.keys(yield* faultsOf({ WAYBILL_PICKUPS: "reject", WAYBILL_PICKUP_DESK_SECONDS: "301" })), ["WAYBILL_PICKUPS", "WAYBILL_PICKUP_DESK_SECONDS"])
  }))

  it.effect("refuses equal base paths, a base path within another, and a reserved one", Effect.fnUntraced(function*() {
    const taken = (env: Readonly<Record<string, string>>) => Effect.map(faultsOf(env), (faults) => Object.keys(faults))
    assert.deepStrictEqual(yield* taken({ WAYBILL_BASE_PATH_TRANSIT_EVENTS: "/pfc" }), ["WAYBILL_BASE_PATH_FREIGHT_CHARGES"])
    assert.deepStrictEqual(yield* taken({ WAYBILL_BASE_PATH_INVOICES: "/pickup/invoices" }), ["WAYBILL_BASE_PATH_PICKUPS"])
    assert.deepStrictEqual(yield* taken({ WAYBILL_BASE_PATH_PICKUPS: "/operator/pickups" }), ["WAYBILL_BASE_PATH_PICKUPS"])
    assert.deepStrictEqual(yield* taken({ WAYBILL_BASE_PATH_FREIGHT_CHARGES: "/visibility/charges" }), ["WAYBILL_BASE_PATH_FREIGHT_CHARGES"])
    assert.deepStrictEqual(yield* taken({ WAYBILL_BASE_PATH_SHIPMENT_STATUS: "/in-transit", WAYBILL_BASE_PATH_TRANSIT_EVENTS: "/in-transit/v2" }), [
      "WAYBILL_BASE_PATH_TRANSIT_EVENTS"
    ])
    for (const path of ["/intake", "/operator/v1", "/docs", "/openapi", "/healthz"]) {
      assert.deepStrictEqual(yield* taken({ WAYBILL_BASE_PATH_TRANSIT_EVENTS: path }), ["WAYBILL_BASE_PATH_TRANSIT_EVENTS"])
    }
  }))

  it.effect("keeps documents in the database, in a directory or in S3", Effect.fnUntraced(function*() {
    const placed = (documents: string) => Effect.map(read({ WAYBILL_DOCUMENTS: documents }), (config) => [config.documents, summaryOf(config)["documents"]])
    assert.deepStrictEqual(yield* placed("Postgres"), [{ kind: "postgres" }, "postgres"])
    assert.deepStrictEqual(yield* placed("directory:papers"), [{ kind: "directory", path: resolve("/srv/papers") }, `directory:${resolve("/srv/papers")}`])
    assert.deepStrictEqual(yield* placed("directory:/var/lib/papers"), [{ kind: "directory", path: "/var/lib/papers" }, "directory:/var/lib/papers"])
    assert.deepStrictEqual(yield* placed("s3://freight-papers"), [{ kind: "s3", bucket: "freight-papers", prefix: "" }, "s3://freight-papers/"])
    assert.deepStrictEqual(yield* placed("s3://freight.papers/waybill/eu"), [
      { kind: "s3", bucket: "freight.papers", prefix: "waybill/eu/" },
      "s3://freight.papers/waybill/eu/"
    ])
    const elsewhere = yield* read({ WAYBILL_DOCUMENTS: "s3://papers", WAYBILL_S3_ENDPOINT: "http://minio:9000" })
    assert.strictEqual(elsewhere.s3Endpoint, "http://minio:9000")
    assert.strictEqual(summaryOf(elsewhere)["s3Endpoint"], "http://minio:9000")
  }))

  it.effect("reads where older documents are, which is another place", Effect.fnUntraced(function*() {
    const config = yield* read({ WAYBILL_DOCUMENTS_ALSO: "s3://papers", WAYBILL_S3_ENDPOINT: "http://minio:9000" })
    assert.deepStrictEqual([config.documents, config.documentsAlso], [{ kind: "postgres" }, { kind: "s3", bucket: "papers", prefix: "" }])
    assert.strictEqual(summaryOf(config)["documentsAlso"], "s3://papers/")
    assert.deepStrictEqual((yield* read({ WAYBILL_DOCUMENTS: "s3://papers", WAYBILL_DOCUMENTS_ALSO: "directory:papers" })).documentsAlso, { kind: "directory", path: resolve("/srv/papers") })
    assert.isUndefined((yield* read({})).documentsAlso)
    assert.match((yield* faultsOf({ WAYBILL_DOCUMENTS_ALSO: "postgres" }))["WAYBILL_DOCUMENTS_ALSO"]!, /same place as WAYBILL_DOCUMENTS/)
    assert.match((yield* faultsOf({ WAYBILL_DOCUMENTS: "directory:papers", WAYBILL_DOCUMENTS_ALSO: "directory:/srv/papers" }))["WAYBILL_DOCUMENTS_ALSO"]!, /same place as WAYBILL_DOCUMENTS/)
  }))

  it.effect("refuses an invalid documents location, without quoting what may be a key", Effect.fnUntraced(function*() {
    for (const place of ["directory:", "s3://", "s3://a", "s3:///prefix", "s3://papers/../other", "s3://AKIA:hunter2hunter2@papers", "https://papers.example", "disk"]) {
      const problem = (yield* faultsOf({ WAYBILL_DOCUMENTS: place }))["WAYBILL_DOCUMENTS"]!
      assert.match(problem, /postgres, directory:\/srv\/documents or s3:\/\/bucket\/prefix/, place)
      assert.deepStrictEqual(leaked(problem, ["hunter2hunter2"]), [])
    }
    assert.match((yield* faultsOf({ WAYBILL_S3_ENDPOINT: "http://minio:9000" }))["WAYBILL_S3_ENDPOINT"]!, /WAYBILL_DOCUMENTS is not in S3/)
  }))

  it.effect("reads several sealing keys, the first of which encrypts", Effect.fnUntraced(function*() {
    const second = Buffer.alloc(32, 8).toString("base64")
    const { sealingKeys } = yield* read({ WAYBILL_SEALING_KEY: `${sealingKey}, ${second}` })
    assert.deepStrictEqual(sealingKeys!.map((key) => Redacted.value(key)[0]), [7, 8])
  }))

  it.effect("reads an empty variable as not set", Effect.fnUntraced(function*() {
    assert.strictEqual((yield* read({ WAYBILL_PORT: "", WAYBILL_ROLE: " " })).port, 8080)
  }))

  it.effect("refuses a listen address that is neither an address nor a host name", Effect.fnUntraced(function*() {
    for (const wrong of ["-1", "8080", "1.2.3.999", "a..b", "-a.example", "a-.example", ":::", "."]) {
      assert.deepStrictEqual(Object.keys(yield* faultsOf({ WAYBILL_HOST: wrong, WAYBILL_ADMIN_HOST: wrong, WAYBILL_ADMIN_PORT: "9" })), ["WAYBILL_HOST", "WAYBILL_ADMIN_HOST"], wrong)
    }
    for (const good of ["0.0.0.0", "::", "::1", "localhost", "waybill_1", "host-2.internal", "4a", "db.example."]) assert.strictEqual((yield* read({ WAYBILL_HOST: good })).host, good)
  }))

  it.effect("shows no control character of a value or a name", Effect.fnUntraced(function*() {
    const given = [...Object.values<Variable<unknown>>(variables).map(({ name }) => name), "WAYBILL_PORT\u001b"]
    const { message } = yield* Effect.flip(read(Object.fromEntries(given.map((name) => [name, "x\u001b[31m\u009b\u202e!/"]))))
    assert.include(message, "WAYBILL_EGRESS_ALLOW")
    assert.include(message, "WAYBILL_PORT\\u001b")
    assert.notMatch(message, /[^\n\P{C}]/u)
  }))

  it.effect("names every invalid variable, with the fix, and never a secret", Effect.fnUntraced(function*() {
    const env = {
      WAYBILL_HOST: "http://0.0.0.0",
      WAYBILL_PORT: "80800",
      WAYBILL_DATABASE_URL: "mysql://root:hunter2hunter2@db/waybill",
      WAYBILL_SCHEMA: "Way-Bill",
      WAYBILL_OPERATOR_KEY: "two words of mine",
      WAYBILL_SEALING_KEY: `${sealingKey},c2hvcnRlciBzZWNyZXQ=`,
      WAYBILL_EGRESS_ALLOW: "10.0.0.0/8,not a host!",
      WAYBILL_JWT_JWKS_URL: "keys.example",
      WAYBILL_PUBLIC_TENANT: "a/b",
      WAYBILL_OTHERS_LOOKUPS_PER_MINUTE: "0",
      WAYBILL_TIME_ZONE: "Mars/Olympus",
      WAYBILL_BASE_PATH_SHIPMENT_STATUS: "/",
      WAYBILL_BASE_PATH_INVOICES: "/in voices",
      WAYBILL_BASE_PATH_PICKUPS: "//",
      WAYBILL_DOCUMENTS: "s3://AKIA:hunter2hunter2@papers",
      WAYBILL_S3_ENDPOINT: "https://AKIA:hunter2hunter2@store.example",
      WAYBILL_BASE_PATH_TRANSIT_EVENTS: "/../events",
      WAYBILL_BASE_PATH_FREIGHT_CHARGES: "/{area}",
      WAYBILL_KEEP_DELIVERED_DAYS: "forever",
      WAYBILL_KEEP_ENDED_BILLS_DAYS: "0",
      WAYBILL_KEEP_NOTICES_DAYS: "-1",
      WAYBILL_ROLE: "master",
      WAYBILL_DEMO: "maybe",
      WAYBILL_POOL_SIZE: "1",
      WAYBILL_LEASE_SECONDS: "soon",
      WAYBILL_DRAIN_SECONDS: "-1",
      WAYBILL_KEEP_DAYS: "0",
      WAYBILL_LOG_FORMAT: "xml",
      WAYBILL_LOG_LEVEL: "loud",
      WAYBILL_PUBLIC_URL: "https://user:hunter2hunter2@freight.example",
      WAYBILL_TRUST_PROXY: "2",
      WAYBILL_ATTEMPT_TIMEOUT_SECONDS: "0",
      OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318",
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "traces:4318",
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "metrics:4318"
    }
    const error = yield* Effect.flip(read(env))
    assert.includeMembers([...new Set(error.faults.map(({ variable }) => variable))], Object.keys(env))
    assert.deepStrictEqual(leaked(error.message, ["hunter2hunter2", "two words of mine", sealingKey, "c2hvcnRlciBzZWNyZXQ="]), [])
    assert.match(error.message, /WAYBILL_PORT is "80800", and has to be a port from 0 to 65535\./)
    assert.match(error.message, /WAYBILL_SEALING_KEY number 2 of 2 is not the base64 text of 32 bytes\. Make one with: openssl rand -base64 32\./)
    assert.match(error.message, /WAYBILL_TIME_ZONE is "Mars\/Olympus", and has to be a time zone's name in the IANA database, such as America\/Chicago\./)
    assert.match(error.message, /WAYBILL_ROLE is "master", and has to be one of api, worker, all\./)
  }))

  it.effect("explains a port variable that Kubernetes set", Effect.fnUntraced(function*() {
  }))

  it.effect("exports telemetry with any of the three endpoints of OpenTelemetry", Effect.fnUntraced(function*() {
    assert.isFalse((yield* read({})).telemetry)
    for (const name of ["", "TRACES_", "METRICS_"]) assert.isTrue((yield* read({ [`OTEL_EXPORTER_OTLP_${name}ENDPOINT`]: "http://collector:4318" })).telemetry, name)
  }))

  it.effect("refuses settings that contradict each other", Effect.fnUntraced(function*() {
    for (const lease of ["10", "15"]) assert.match((yield* faultsOf({ WAYBILL_LEASE_SECONDS: lease }))["WAYBILL_LEASE_SECONDS"]!, /longer than an attempt/, lease)
    assert.match((yield* faultsOf({ WAYBILL_DEMO: "on", WAYBILL_ROLE: "api" }))["WAYBILL_DEMO"]!, /needs the role all/)
    const jwt = yield* faultsOf({ WAYBILL_JWT_JWKS_URL: "https://login.example/keys" })
    assert.deepStrictEqual(Object.keys(jwt), ["WAYBILL_JWT_ISSUER", "WAYBILL_JWT_AUDIENCE"])
  }))

  it.effect("refuses a database URL that can never work: two lines, a bare percent sign, an unknown sslmode, no authority, or a file that is none", Effect.fnUntraced(function*() {
    const problemOf = (query: string) => Effect.map(faultsOf({ WAYBILL_DATABASE_URL: `postgres://waybill:hunter2@db/freight?${query}` }), (faults) => faults["WAYBILL_DATABASE_URL"])
    for (const wrong of ["postgres://waybill:100%@db/freight", "postgres://a@db/freight\npostgres://b@db/freight"]) {
      assert.match((yield* faultsOf({ WAYBILL_DATABASE_URL: wrong }))["WAYBILL_DATABASE_URL"]!, /^is not a Postgres address.*percent-encoded$/, wrong)
    }
    assert.strictEqual(yield* problemOf("sslmode=verify"), "has sslmode=verify, and that has to be one of disable, prefer, require, verify-ca, verify-full, no-verify")
    assert.match((yield* problemOf("sslmode=verify-ca"))!, /^has sslmode=verify-ca, which needs the authority's certificate/)
    assert.strictEqual(
      yield* problemOf("sslmode=verify-full&sslrootcert=/nowhere/ca.pem"),
      "has sslrootcert=/nowhere/ca.pem, which cannot be read: ENOENT: no such file or directory. Correct the path, or let this user read it"
    )
    assert.match((yield* problemOf("sslmode=require&sslcert=/dev/null"))!, /^has sslcert=\/dev\/null, a file without a PEM block/)
  }))

  it.effect("refuses a misspelled variable, and the file form of one that has none", Effect.fnUntraced(function*() {
    assert.deepStrictEqual(yield* faultsOf({ WAYBILL_DATABSE_URL: "postgres://db/waybill", WAYBILL_JWT_ISSUER_FILE: "/run/secrets/issuer" }), {
      WAYBILL_DATABSE_URL: "is not known; WAYBILL_DATABASE_URL is. Correct the name, or remove it",
      WAYBILL_JWT_ISSUER_FILE: "is not known: WAYBILL_JWT_ISSUER has no form that names a file. Put the value itself into WAYBILL_JWT_ISSUER"
    })
  }))

  it.effect("warns of other names that are no settings, in one line", Effect.fnUntraced(function*() {
    assert.deepStrictEqual((yield* read({ WAYBILL_FOO: "1", WAYBILL_MAX_RETRIES: "", OTHER: "1" })).warnings, [
      "The server has no setting named WAYBILL_FOO, WAYBILL_MAX_RETRIES, and ignores them. waybill --help lists all settings."
    ])
    assert.match((yield* read({ WAYBILL_FOO: "1" })).warnings.join(), /WAYBILL_FOO, and ignores it\./)
  }))

  it.effect("is not disturbed by variables of commands and EDI partners, nor by those that Kubernetes sets for services", Effect.fnUntraced(function*() {
    const commands = { WAYBILL_URL: "http://x", WAYBILL_TENANT: "acme", WAYBILL_API_KEY: "wb.x", WAYBILL_WEBHOOK_SECRET: "whsec_x", WAYBILL_LAUNCHER: "1", WAYBILL_EDI_SECRET_ACME: "x" }
    const service = (prefix: string) => ({
      [`${prefix}_SERVICE_HOST`]: "10.96.0.12",
      [`${prefix}_SERVICE_PORT`]: "80",
      [`${prefix}_SERVICE_PORT_HTTP`]: "80",
      [`${prefix}_PORT`]: "tcp://10.96.0.12:80",
      [`${prefix}_PORT_80_TCP`]: "tcp://10.96.0.12:80",
      [`${prefix}_PORT_80_TCP_ADDR`]: "10.96.0.12"
    })
    const config = yield* read({ ...commands, ...service("WAYBILL"), ...service("WAYBILL_ADMIN"), ...service("WAYBILL_PG_RW") })
    assert.deepStrictEqual([config.warnings, config.port, config.admin], [[], 8080, undefined])
  }))

  it.effect("counts an empty variable as not set", Effect.fnUntraced(function*() {
    yield* read(Object.fromEntries(variableNames.map((name) => [name, ""])))
  }))

  it.effect("warns of settings that are valid but probably unintended", Effect.fnUntraced(function*() {
    const { warnings } = yield* read({ WAYBILL_DATABASE_URL: "postgres://db/waybill" })
    assert.match(warnings.join("\n"), /WAYBILL_SEALING_KEY is not set/)
  }))

  it.effect("reads several operator keys with names, and refuses short ones", Effect.fnUntraced(function*() {
    const { operatorKeys } = yield* read({ WAYBILL_OPERATOR_KEY: `${operatorKey},ci:read:${operatorKey}2` })
    assert.deepStrictEqual(operatorKeys?.map(({ name, readOnly }) => [name, readOnly]), [["operator", false], ["ci", true]])
    assert.match((yield* faultsOf({ WAYBILL_OPERATOR_KEY: "op" }))["WAYBILL_OPERATOR_KEY"]!, /^is shorter than 20 characters/)
    assert.match((yield* faultsOf({ WAYBILL_OPERATOR_KEY: `a:${operatorKey},b:${operatorKey}` }))["WAYBILL_OPERATOR_KEY"]!, /the same key twice/)
    assert.match((yield* faultsOf({ WAYBILL_OPERATOR_KEY: `Ops:${operatorKey}` }))["WAYBILL_OPERATOR_KEY"]!, /name/)
  }))

  it.effect("reads keys and the database URL from files, and refuses both forms at once", Effect.fnUntraced(function*() {
    const dir = mkdtempSync(join(tmpdir(), "waybill-files-"))
    yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(dir, { recursive: true })))
    const file = (name: string, text: string) => {
      writeFileSync(join(dir, name), text)
      return join(dir, name)
    }
    const files = {
      WAYBILL_OPERATOR_KEY_FILE: file("operator", `${operatorKey}\n`),
      WAYBILL_SEALING_KEY_FILE: file("sealing", `${sealingKey}\r\n`),
      WAYBILL_DATABASE_URL_FILE: file("url", "postgres://waybill:secret@db.internal/waybill\n")
    }
    const config = yield* read(files)
    assert.deepStrictEqual(config.operatorKeys?.map(({ key }) => Redacted.value(key)), [operatorKey])
    assert.strictEqual(Redacted.value(config.databaseUrl!), "postgres://waybill:secret@db.internal/waybill")
    assert.strictEqual(Redacted.value(config.sealingKeys![0]).length, 32)
    assert.isFalse(config.demo)
    assert.deepStrictEqual(yield* faultsOf({ ...files, WAYBILL_SEALING_KEY: sealingKey }), {
      WAYBILL_SEALING_KEY_FILE: "is set, and WAYBILL_SEALING_KEY is set too. Set one of them"
    })
    const missing = yield* faultsOf({ WAYBILL_OPERATOR_KEY_FILE: join(dir, "missing") })
    assert.match(missing["WAYBILL_OPERATOR_KEY_FILE"]!, /^names ".*missing", which cannot be read: ENOENT: no such file or directory\. Correct/)
    assert.match((yield* faultsOf({ WAYBILL_OPERATOR_KEY_FILE: dir }))["WAYBILL_OPERATOR_KEY_FILE"]!, /^names "\/.*", which cannot be read: EISDIR/)
    assert.match((yield* faultsOf({ WAYBILL_DATABASE_URL_FILE: file("empty", "\n") }))["WAYBILL_DATABASE_URL_FILE"]!, /which is empty/)
    const large = yield* faultsOf({ WAYBILL_DATABASE_URL_FILE: file("large", `postgres://db.internal/waybill${"\n".repeat(1_048_576)}`) })
    assert.match(large["WAYBILL_DATABASE_URL_FILE"]!, /^names ".*large", which has more than 1 MiB\. Correct the path$/)
    const short = yield* faultsOf({ WAYBILL_OPERATOR_KEY_FILE: file("short", "hunter2hunter2") })
    assert.match(short["WAYBILL_OPERATOR_KEY_FILE"]!, /^names a file whose text is shorter than 20/)
    assert.notInclude(JSON.stringify(short), "hunter2")
  }, Effect.scoped))

  it.effect("does not print a secret that stands where the name of its file belongs", Effect.fnUntraced(function*() {
    const misplaced = { WAYBILL_OPERATOR_KEY_FILE: operatorKey, WAYBILL_SEALING_KEY_FILE: `/${sealingKey.slice(1)}`, WAYBILL_DATABASE_URL_FILE: "postgres://waybill:hunter2@db.internal/waybill" }
    const faults = yield* faultsOf(misplaced)
    for (const [name, secret] of Object.entries(misplaced)) {
      assert.match(faults[name]!, new RegExp(`^names no file: ENOENT: no such file or directory\\. Set it to the path of a file, or put the value itself into ${name.replace("_FILE", "")}$`))
      assert.notInclude(JSON.stringify(faults), secret)
    }
  }))

  it.effect("accepts a key set over https, and over plain http from this machine and allowed hosts only", Effect.fnUntraced(function*() {
    const jwt = (url: string, more: Readonly<Record<string, string>> = {}) =>
      ({ WAYBILL_JWT_JWKS_URL: url, WAYBILL_JWT_ISSUER: "i", WAYBILL_JWT_AUDIENCE: "a", ...more })
    for (const url of ["http://127.0.0.1:9000/jwks", "http://localhost/jwks", "http://[::1]:9000/jwks"]) {
      assert.deepStrictEqual((yield* read(jwt(url))).jwt?.allowHttpHosts, [new URL(url).hostname])
    }
    yield* read(jwt("https://login.example/jwks"))
    yield* read(jwt("http://login.internal/jwks", { WAYBILL_EGRESS_ALLOW: "login.internal" }))
    yield* read(jwt("http://10.1.2.3/jwks", { WAYBILL_EGRESS_ALLOW: "10.1.0.0/16" }))
    for (const url of ["http://login.example/jwks", "http://10.2.2.3/jwks", "http://127.0.0.1.example/jwks", "http://localhost.example/jwks"]) {
      const faults = yield* faultsOf(jwt(url, { WAYBILL_EGRESS_ALLOW: "10.1.0.0/16" }))
      assert.match(faults["WAYBILL_JWT_JWKS_URL"]!, /^uses plain http.*WAYBILL_EGRESS_ALLOW/)
    }
  }))

  it.effect("serves the operator API on the same port unless it has its own", Effect.fnUntraced(function*() {
    assert.strictEqual((yield* read({})).admin, undefined)
    assert.deepStrictEqual((yield* read({ WAYBILL_HOST: "0.0.0.0", WAYBILL_ADMIN_PORT: "9090" })).admin, { host: "0.0.0.0", port: 9090 })
    assert.deepStrictEqual((yield* read({ WAYBILL_HOST: "0.0.0.0", WAYBILL_ADMIN_HOST: "127.0.0.1", WAYBILL_ADMIN_PORT: "8080" })).admin, { host: "127.0.0.1", port: 8080 })
    assert.deepStrictEqual(Object.keys(yield* faultsOf({ WAYBILL_ADMIN_HOST: "127.0.0.1" })), ["WAYBILL_ADMIN_HOST"])
    assert.deepStrictEqual(Object.keys(yield* faultsOf({ WAYBILL_ADMIN_PORT: "8080" })), ["WAYBILL_ADMIN_PORT"])
    assert.deepStrictEqual((yield* read({ WAYBILL_PORT: "0", WAYBILL_ADMIN_PORT: "0" })).admin, { host: "127.0.0.1", port: 0 })
  }))

  it.effect("needs a database of its own for a read replica", Effect.fnUntraced(function*() {
    const replica = { WAYBILL_READ_DATABASE_URL: "postgres://waybill:secret@replica.internal/waybill" }
    assert.deepStrictEqual(Object.keys(yield* faultsOf(replica)), ["WAYBILL_READ_DATABASE_URL"])
    assert.strictEqual((yield* read({ WAYBILL_DATABASE_URL: "postgres://waybill:secret@db.internal/waybill" })).readDatabaseUrl, undefined)
    const config = yield* read({ ...replica, WAYBILL_DATABASE_URL: "postgres://waybill:secret@db.internal/waybill" })
    assert.strictEqual(summaryOf(config)["readDatabase"], "replica.internal/waybill")
  }))

  it.effect("prints a summary without secrets", Effect.fnUntraced(function*() {
    const config = yield* read({
      WAYBILL_DATABASE_URL: "postgres://waybill:hunter2hunter2@db.internal:5433/freight?password=hunter2hunter2",
      WAYBILL_OPERATOR_KEY: "0123456789abcdef0123456789abcdef",
      WAYBILL_SEALING_KEY: sealingKey
    })
    const summary = summaryOf(config)
    assert.strictEqual(summary["database"], "db.internal:5433/freight")
    assert.deepStrictEqual(leaked(JSON.stringify(summary) + JSON.stringify(config), ["hunter2hunter2", "0123456789abcdef0123456789abcdef", sealingKey]), [])
  }))
})
