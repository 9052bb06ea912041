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
