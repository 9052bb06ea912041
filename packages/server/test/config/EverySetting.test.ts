/** Every variable, with a value that is not its default: a setting that nobody reads would be ignored without a word. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted } from "effect"
import { readServerConfig, type ServerConfig, summaryOf } from "../../src/config/ServerConfig.ts"
import { variableNames } from "../../src/config/Variables.ts"
import { leaked } from "../program/Program.ts"

const secrets = { database: "hunter2hunter2", operator: "0123456789abcdef0123456789abcdef", sealing: Buffer.alloc(32, 7).toString("base64"), mail: "letmeinletmein" }

const day = 86_400_000

const given = {
  WAYBILL_HOST: "0.0.0.0",
  WAYBILL_PORT: "8181",
  WAYBILL_DATABASE_URL: `postgres://waybill:${secrets.database}@db.internal/freight`,
  WAYBILL_READ_DATABASE_URL: `postgres://waybill:${secrets.database}@standby.internal/freight`,
  WAYBILL_DATA_DIR: "data",
  WAYBILL_SCHEMA: "freight",
  WAYBILL_ADMIN_HOST: "10.0.0.1",
  WAYBILL_ADMIN_PORT: "9191",
  WAYBILL_OPERATOR_KEY: `ops:read:${secrets.operator}`,
  WAYBILL_SEALING_KEY: secrets.sealing,
  WAYBILL_EGRESS_ALLOW: "receiver.internal",
  WAYBILL_JWT_JWKS_URL: "https://login.example/keys",
  WAYBILL_JWT_ISSUER: "https://login.example",
  WAYBILL_JWT_AUDIENCE: "freight",
  WAYBILL_PUBLIC_TENANT: "acme",
  WAYBILL_TOKEN_ACCESS_SECONDS: "61",
  WAYBILL_OTHERS_LOOKUPS_PER_MINUTE: "5",
  WAYBILL_PICKUPS: "desk",
  WAYBILL_PICKUP_DESK_SECONDS: "7.5",
  WAYBILL_TIME_ZONE: "America/Chicago",
  WAYBILL_ROLE: "all",
  WAYBILL_DASHBOARD: "off",
  WAYBILL_PORTAL_FRAME_ANCESTORS: "https://app.example.com",
  WAYBILL_PORTAL_THEME: "{\"name\":\"Acme\"}",
  WAYBILL_SMTP_URL: `smtps://mailer:${secrets.mail}@mail.example.com:465`,
  WAYBILL_MAIL_FROM: "webhooks@acme.example",
  WAYBILL_NOTICE_AFTER_SECONDS: "62",
  WAYBILL_EDI_DIR: "edi",
  WAYBILL_EDI_MAX_WAITING_FILES: "12",
  WAYBILL_DEMO: "on",
  WAYBILL_PUBLIC_URL: "https://freight.example",
  WAYBILL_TRUST_PROXY: "on",
  WAYBILL_BASE_PATH_SHIPMENT_STATUS: "/a",
  WAYBILL_BASE_PATH_INVOICES: "/b",
  WAYBILL_BASE_PATH_PICKUPS: "/c",
  WAYBILL_BASE_PATH_TRANSIT_EVENTS: "/d",
  WAYBILL_BASE_PATH_FREIGHT_CHARGES: "/e",
  WAYBILL_DOCUMENTS: "s3://papers",
  WAYBILL_DOCUMENTS_ALSO: "directory:old",
  WAYBILL_S3_ENDPOINT: "https://store.example",
  WAYBILL_POOL_SIZE: "21",
  WAYBILL_STATEMENT_TIMEOUT_SECONDS: "46",
  WAYBILL_IDLE_TRANSACTION_TIMEOUT_SECONDS: "11",
  WAYBILL_LEASE_SECONDS: "22",
  WAYBILL_ATTEMPT_TIMEOUT_SECONDS: "16",
  WAYBILL_DRAIN_SECONDS: "9",
  WAYBILL_DRAIN_DELAY_SECONDS: "4",
  WAYBILL_KEEP_DAYS: "31",
  WAYBILL_KEEP_DELIVERED_DAYS: "32",
  WAYBILL_KEEP_ENDED_BILLS_DAYS: "33",
  WAYBILL_KEEP_PICKUPS_DAYS: "34",
  WAYBILL_KEEP_AUDIT_DAYS: "35",
  WAYBILL_KEEP_STATISTICS_DAYS: "36",
  WAYBILL_KEEP_EDI_FILES_DAYS: "37",
  WAYBILL_KEEP_NOTICES_DAYS: "38",
  WAYBILL_LOG_FORMAT: "pretty",
  WAYBILL_LOG_LEVEL: "debug",
  OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://traces:4318/v1/traces",
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://metrics:4318/v1/metrics"
}

/** Without the values that are secret or parsed to more than the text says. */
const expected: Partial<ServerConfig> = {
  host: "0.0.0.0",
  port: 8181,
  admin: { host: "10.0.0.1", port: 9191 },
  dataDir: "/srv/data",
  schema: "freight",
  egressText: "receiver.internal",
  jwt: { jwksUrl: "https://login.example/keys", issuer: "https://login.example", audience: "freight", allowHttpHosts: [] },
  publicTenant: "acme",
  tokenAccessMillis: 61_000,
  othersLookupsPerMinute: 5,
  pickups: "desk",
  pickupDeskMillis: 7_500,
  timeZone: "America/Chicago",
  role: "all",
  dashboard: false,
  portalFrameAncestors: ["https://app.example.com"],
  portalTheme: { name: "Acme" },
  noticeAfterMillis: 62_000,
  ediDir: "/srv/edi",
  ediLimits: { keepMillis: 37 * day, maxWaitingFiles: 12 },
  demo: true,
  publicUrl: "https://freight.example",
  trustProxy: true,
  basePaths: { shipmentStatus: "/a", invoices: "/b", pickups: "/c", transitEvents: "/d", freightCharges: "/e" },
  documents: { kind: "s3", bucket: "papers", prefix: "" },
  documentsAlso: { kind: "directory", path: "/srv/old" },
  s3Endpoint: "https://store.example",
  poolSize: 21,
  statementTimeoutMillis: 46_000,
  idleTransactionTimeoutMillis: 11_000,
  delivery: { leaseMillis: 22_000, attemptTimeoutMillis: 16_000, drainMillis: 9_000, keepSettledMillis: 31 * day },
  retention: {
    keepDeliveredShipmentsMillis: 32 * day,
    keepEndedBillsMillis: 33 * day,
    keepPickupsMillis: 34 * day,
    keepAuditMillis: 35 * day,
    keepStatisticsMillis: 36 * day,
    keepNoticesMillis: 38 * day
  },
  drainMillis: 9_000,
  drainDelayMillis: 4_000,
  logFormat: "pretty",
  logLevel: "Debug",
  telemetry: true
}

describe("every variable", () => {
  it.effect("is read into its setting, and no secret is in the settings that are logged", Effect.fnUntraced(function*() {
    const config = yield* readServerConfig({ names: Object.keys(given), isTerminal: false, directory: "/srv" }).pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord(given))
    )
    assert.deepStrictEqual(Object.keys(given).toSorted(), variableNames.filter((name) => !name.endsWith("_FILE")).toSorted())
    assert.deepStrictEqual({ ...config, ...expected }, config)
    const { databaseUrl, mail, operatorKeys, readDatabaseUrl, sealingKeys } = config
    assert.deepStrictEqual([databaseUrl, readDatabaseUrl, mail?.url].map((url) => Redacted.value(url!)), [given.WAYBILL_DATABASE_URL, given.WAYBILL_READ_DATABASE_URL, given.WAYBILL_SMTP_URL])
    assert.deepStrictEqual([mail?.from, operatorKeys?.map(({ name, readOnly }) => [name, readOnly]), sealingKeys?.length], [given.WAYBILL_MAIL_FROM, [["ops", true]], 1])
    assert.deepStrictEqual(leaked(JSON.stringify(summaryOf(config)) + JSON.stringify(config), Object.values(secrets)), [])
  }))
})
