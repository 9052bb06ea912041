import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted } from "effect"
import { resolve } from "node:path"
import { readServerConfig, summaryOf } from "../../src/config/ServerConfig.ts"
import { variableNames } from "../../src/config/Variables.ts"
import { leaked } from "../program/Program.ts"

const read = (env: Readonly<Record<string, string>>) =>
  readServerConfig({ names: Object.keys(env), isTerminal: false, directory: "/srv" }).pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord({ ...env }))
  )

/** What is wrong with the settings, variable by variable. */
const faultsOf = (env: Readonly<Record<string, string>>) =>
  Effect.map(Effect.flip(read(env)), (error) => Object.fromEntries(error.faults.map(({ problem, variable }) => [variable, problem])))

const sealingKey = Buffer.alloc(32, 7).toString("base64")

describe("ServerConfig", () => {
  it.effect("needs nothing: loopback, port 8080, an embedded database, the demo", () =>
    Effect.gen(function*() {
      const config = yield* read({})
      assert.strictEqual(config.host, "127.0.0.1")
      assert.strictEqual(config.port, 8080)
      assert.strictEqual(config.databaseUrl, undefined)
      assert.strictEqual(config.dataDir, resolve("/srv/.waybill"))
      assert.strictEqual(config.schema, "waybill")
      assert.strictEqual(config.role, "all")
      assert.isTrue(config.demo)
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
        keepPickupsMillis: 365 * 86_400_000
      })
      assert.strictEqual(config.logFormat, "json")
      assert.deepStrictEqual(config.warnings, [])
    }))

  it.effect("plays no demo for somebody who brings a database or an operator key, unless told to", () =>
    Effect.gen(function*() {
      const databaseUrl = "postgres://waybill:secret@db.internal/waybill"
      assert.isFalse((yield* read({ WAYBILL_DATABASE_URL: databaseUrl, WAYBILL_SEALING_KEY: sealingKey })).demo)
      assert.isFalse((yield* read({ WAYBILL_OPERATOR_KEY: "0123456789abcdef0123456789abcdef" })).demo)
      assert.isFalse((yield* read({ WAYBILL_DEMO: "off" })).demo)
      assert.isFalse((yield* read({ WAYBILL_ROLE: "worker" })).demo)
      assert.isTrue((yield* read({ WAYBILL_OPERATOR_KEY: "0123456789abcdef0123456789abcdef", WAYBILL_DEMO: "true" })).demo)
    }))

  it.effect("has a dashboard unless told not to, and keeps its path free for it", () =>
    Effect.gen(function*() {
      assert.isTrue((yield* read({})).dashboard)
      assert.isFalse((yield* read({ WAYBILL_DASHBOARD: "off" })).dashboard)
      assert.include((yield* faultsOf({ WAYBILL_BASE_PATH_INVOICES: "/dashboard/invoices" }))["WAYBILL_BASE_PATH_INVOICES"], "/dashboard is there already")
    }))

  it.effect("takes days, a time zone, a limit of lookups and places for the areas", () =>
    Effect.gen(function*() {
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
        keepPickupsMillis: 90 * 86_400_000
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

  it.effect("gives no two areas the same path, one path within another, or one that is taken", () =>
    Effect.gen(function*() {
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

  it.effect("keeps documents in the database, in a directory or in S3", () =>
    Effect.gen(function*() {
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

  it.effect("refuses a place that is none, without showing what may be a key", () =>
    Effect.gen(function*() {
      for (const place of ["directory:", "s3://", "s3://a", "s3:///prefix", "s3://papers/../other", "s3://AKIA:hunter2hunter2@papers", "https://papers.example", "disk"]) {
        const problem = (yield* faultsOf({ WAYBILL_DOCUMENTS: place }))["WAYBILL_DOCUMENTS"]!
        assert.match(problem, /postgres, directory:\/srv\/documents or s3:\/\/bucket\/prefix/, place)
        assert.deepStrictEqual(leaked(problem, ["hunter2hunter2"]), [])
      }
      assert.match((yield* faultsOf({ WAYBILL_S3_ENDPOINT: "http://minio:9000" }))["WAYBILL_S3_ENDPOINT"]!, /WAYBILL_DOCUMENTS is not in S3/)
    }))

  it.effect("takes several sealing keys, the first of which seals", () =>
    Effect.gen(function*() {
      const second = Buffer.alloc(32, 8).toString("base64")
      const { sealingKeys } = yield* read({ WAYBILL_SEALING_KEY: `${sealingKey}, ${second}` })
      assert.deepStrictEqual(sealingKeys!.map((key) => Redacted.value(key)[0]), [7, 8])
    }))

  it.effect("takes an empty variable for one that is not set", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* read({ WAYBILL_PORT: "", WAYBILL_ROLE: " " })).port, 8080)
    }))

  it.effect("names every variable that cannot be used, with what to do, and never a secret", () =>
    Effect.gen(function*() {
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
        OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318"
      }
      const error = yield* Effect.flip(read(env))
      assert.includeMembers([...new Set(error.faults.map(({ variable }) => variable))], Object.keys(env))
      assert.deepStrictEqual(leaked(error.message, ["hunter2hunter2", "two words of mine", sealingKey, "c2hvcnRlciBzZWNyZXQ="]), [])
      assert.match(error.message, /WAYBILL_PORT is "80800", and has to be a port from 0 to 65535\./)
      assert.match(error.message, /WAYBILL_SEALING_KEY number 2 of 2 is not the base64 text of 32 bytes\. Make one with: openssl rand -base64 32\./)
      assert.match(error.message, /WAYBILL_TIME_ZONE is "Mars\/Olympus", and has to be a time zone's name in the IANA database, such as America\/Chicago\./)
      assert.match(error.message, /WAYBILL_ROLE is "master", and has to be one of api, worker, all\./)
    }))

  it.effect("says where the port of a Kubernetes service comes from", () =>
    Effect.gen(function*() {
      const faults = yield* faultsOf({ WAYBILL_PORT: "tcp://10.96.0.12:80" })
      assert.match(faults["WAYBILL_PORT"]!, /Kubernetes/)
    }))

  it.effect("refuses settings that contradict each other", () =>
    Effect.gen(function*() {
      assert.match((yield* faultsOf({ WAYBILL_LEASE_SECONDS: "10" }))["WAYBILL_LEASE_SECONDS"]!, /longer than an attempt/)
      assert.match((yield* faultsOf({ WAYBILL_DEMO: "on", WAYBILL_ROLE: "api" }))["WAYBILL_DEMO"]!, /does everything/)
      const jwt = yield* faultsOf({ WAYBILL_JWT_JWKS_URL: "https://login.example/keys" })
      assert.deepStrictEqual(Object.keys(jwt), ["WAYBILL_JWT_ISSUER", "WAYBILL_JWT_AUDIENCE"])
    }))

  it.effect("finds a misspelt variable and leaves other people's alone", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* faultsOf({ WAYBILL_DATABSE_URL: "postgres://db/waybill" }), {
        WAYBILL_DATABSE_URL: "is not known; WAYBILL_DATABASE_URL is. Correct the name, or take it out"
      })
      yield* read({ WAYBILL_SERVICE_HOST: "10.96.0.12", WAYBILL_KEY: "wb.x", WAYBILL_WEBHOOK_SECRET: "whsec_x", WAYBILL_LAUNCHER: "1" })
      yield* read(Object.fromEntries(variableNames.map((name) => [name, ""])))
    }))

  it.effect("warns of what works but was probably not meant", () =>
    Effect.gen(function*() {
      const { warnings } = yield* read({ WAYBILL_DATABASE_URL: "postgres://db/waybill", WAYBILL_OPERATOR_KEY: "op" })
      assert.match(warnings.join("\n"), /WAYBILL_SEALING_KEY is not set/)
      assert.match(warnings.join("\n"), /WAYBILL_OPERATOR_KEY is short/)
    }))

  it.effect("shows a summary without anything secret", () =>
    Effect.gen(function*() {
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
