/** One run: set up, inject faults for a while, let it recover, and check the rules. */
import { OperatorClient, TransitEventsClient } from "@waybill/client"
import { SeededRandom } from "@waybill/conformance/fixtures"
import { partitionOf } from "@waybill/core/delivery"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type BuiltProgram, buildProgram } from "../program/buildProgram.ts"
import { Cluster, Console } from "./Cluster.ts"
import { ServerProcesses } from "./ServerProcesses.ts"
import { Workload } from "./Workload.ts"
import { Ledger } from "./Ledger.ts"
import { type LogFindings, readLogs } from "./Logs.ts"
import { type ChaosPlan, pause } from "./Plan.ts"
import { Publisher } from "./Publisher.ts"
import { Receivers } from "./Receivers.ts"
import { Resumes } from "./Resumes.ts"
import type { Rule, Violated } from "./Rules.ts"
import { ServerProcess } from "./ServerProcess.ts"
import { Starvation } from "./Starvation.ts"
import { FaultInjection } from "./FaultInjection.ts"

const schema = "waybill"

export interface ChaosReport {
  readonly seed: number
  readonly happened: {
    readonly acknowledged: number
    readonly expected: number
    readonly arrivals: number
    readonly duplicates: number
    readonly kills: number
    readonly restarts: number
    readonly exhaustions: number
    readonly terminated: number
    readonly halfOpen: number
    /** Subscriptions whose recovery was timed. */
    readonly resumes: number
  }
  /** Counters, with their names. */
  readonly counts: Readonly<Record<string, number | string>>
  readonly logs: LogFindings
  readonly violations: ReadonlyArray<{ readonly rule: Rule; readonly count: number; readonly first: ReadonlyArray<string> }>
  /** Logs and a line for each request; kept only after a violation or on request. */
  readonly artifacts: string | undefined
}

interface ChaosOptions {
  readonly keep?: boolean
  readonly say?: (line: string) => void
}

export const runChaos = async (plan: ChaosPlan, { keep = false, say = () => {} }: ChaosOptions = {}): Promise<ChaosReport> => {
  const began = Date.now()
  const artifacts = mkdtempSync(join(tmpdir(), `waybill-chaos-logs-${plan.seed}-`))
  const numbers = new SeededRandom(plan.seed)
  const random = () => numbers.next()
  const workload = new Workload(plan)
  const ledger = new Ledger(workload)
  const violated: Violated = (rule, offender) => ledger.violated(rule, offender)
  const closers: Array<() => Promise<unknown>> = []
  let finished = false
  const timestamped = (line: string) => say(`${((Date.now() - began) / 1000).toFixed(1).padStart(6)} s  ${line}`)
  try {
    const program = await buildProgram()
    const cluster = await Cluster.start(artifacts)
    closers.push(() => cluster.remove())
    const console = new Console(cluster.urlAt(cluster.port), 4)
    closers.push(() => console.close())
    const starvation = new Starvation()
    closers.push(() => starvation.close())
    const resumes = new Resumes(plan, starvation, violated)
    const receivers = await Receivers.open({
      workload,
      ledger,
      random,
      attemptTimeoutSeconds: plan.attemptTimeoutSeconds,
      file: join(artifacts, "requests.log"),
      onAccepted: (subscriber, { since }) => resumes.accepted(subscriber, since)
    })
    closers.push(() => receivers.close())
    const operatorKey = randomBytes(24).toString("hex")
    const env = environment(plan, operatorKey)
    await migrated({ cluster, env, artifacts, program })
    const servers = await ServerProcesses.open({ plan, cluster, program, env, artifacts, violated })
    closers.push(() => servers.close())
    for (const slot of servers.slots) servers.start(slot)
    await servers.untilReady(60_000)
    const { carrierKeys, keys, destinations } = await settled(workload, receivers, `http://127.0.0.1:${servers.slots[0]!.process!.port}`, operatorKey)
    timestamped(`${plan.processes} processes are ready, ${destinations.length} subscriptions made`)

    const publisher = new Publisher({
      workload,
      ledger,
      random,
      urls: servers.slots.map(({ intake }) => `http://127.0.0.1:${intake.port}`),
      carrierKeys,
      // Slightly faster than the faults, so that it ends before they do.
      seconds: plan.seconds * 0.92
    })
    const faults = new FaultInjection({ plan, random, cluster, console, servers, workload, ledger, receivers, resumes, schema, say: timestamped })
    const watch = watching({ console, servers, subscribers: workload.subscribers.map(({ index, tenant }) => ({ id: destinations[index]!, index, tenant })), resumes })
    const published = publisher.run()
    await faults.run()
    timestamped("no more faults")
    receivers.faultFree = true
    const calmAt = Date.now()
    let isPublished = false
    void published.then(() => isPublished = true)
    await withoutStandstill(plan.drainSeconds, () => isPublished, () => ledger.acknowledged)
    publisher.stopped = true
    if (!isPublished) violated("every event is finally published", `${ledger.acknowledged} of ${plan.events} events`)
    await withoutStandstill(plan.drainSeconds, async () => {
      if (!ledger.settled) return false
      const left = await leftOver(console).catch(() => undefined)
      return left !== undefined && left.unsettled + left.entries === 0
    }, () => ledger.requests)
    const drainedAfter = (Date.now() - calmAt) / 1000
    timestamped(`drained ${drainedAfter.toFixed(1)} s after the last fault`)
    const left = await leftOver(console)
    await watch.stop()

    ledger.judgeLosses()
    resumes.judgeRest()
    await keepRows(console, ledger, artifacts)
    if (left.dead > 0) violated("no delivery is a dead letter", `${left.dead} deliveries`)
    if (left.unsettled > 0) violated("every delivery is finally settled", `${left.unsettled} deliveries`)
    if (left.entries > 0) violated("no entry is left waiting", `${left.entries} entries`)
    if (cluster.endedByItself) violated("Postgres does not exit unexpectedly", "see postgres.log")
    for (const stubborn of await servers.stop()) violated("a stopped process exits with 0", stubborn)
    if (servers.worstRssMiB > plan.maxRssMiB) violated("memory is bounded", `${servers.worstRssMiB.toFixed(0)} MiB`)
    const secrets = [operatorKey, env["WAYBILL_SEALING_KEY"]!, cluster.password, ...keys, ...receivers.secrets]
    const logs = readLogs(servers.processes, secrets, violated)
    finished = true
    const violations = [...ledger.violations].map(([rule, found]) => ({ rule, ...found }))
    return {
      seed: plan.seed,
      happened: {
        acknowledged: ledger.acknowledged,
        expected: ledger.expected,
        arrivals: ledger.arrivals,
        duplicates: ledger.duplicates,
        kills: faults.kills,
        restarts: faults.restarts.fast + faults.restarts.immediate + faults.restarts.killed,
        exhaustions: faults.exhaustions,
        terminated: faults.terminated,
        halfOpen: faults.halfOpen.database + faults.halfOpen.receivers + faults.halfOpen.intake,
        resumes: resumes.measured
      },
      counts: countsOf({ plan, ledger, faults, publisher, receivers, resumes, starvation, servers, left, logs, drainedAfter, seconds: (Date.now() - began) / 1000 }),
      logs,
      violations,
      artifacts: keep || violations.length > 0 ? artifacts : undefined
    }
  } finally {
    for (const close of closers.reverse()) await close().catch((error: unknown) => timestamped(`closing: ${String(error)}`))
    if (finished && !keep && ledger.violations.size === 0) rmSync(artifacts, { recursive: true, force: true })
    else timestamped(`logs are in ${artifacts}`)
  }
}

const environment = (plan: ChaosPlan, operatorKey: string): Readonly<Record<string, string>> => ({
  WAYBILL_PORT: "0",
  WAYBILL_SCHEMA: schema,
  WAYBILL_OPERATOR_KEY: operatorKey,
  WAYBILL_SEALING_KEY: randomBytes(32).toString("base64"),
  WAYBILL_EGRESS_ALLOW: "127.0.0.1",
  WAYBILL_DATA_DIR: join(tmpdir(), "waybill-chaos-none"),
  WAYBILL_LEASE_SECONDS: String(plan.leaseSeconds),
  WAYBILL_ATTEMPT_TIMEOUT_SECONDS: String(plan.attemptTimeoutSeconds),
  WAYBILL_DASHBOARD: "off",
  WAYBILL_LOG_FORMAT: "json"
})

interface Migrating {
  readonly cluster: Cluster
  readonly env: Readonly<Record<string, string>>
  readonly artifacts: string
  readonly program: BuiltProgram
}

const migrated = async ({ artifacts, cluster, env, program }: Migrating): Promise<void> => {
  const process = new ServerProcess({
    program,
    args: ["migrate"],
    env: { ...env, WAYBILL_DATABASE_URL: cluster.urlAt(cluster.port) },
    logFile: join(artifacts, "migrate.log")
  })
  await process.exited
  if (process.exitCode !== 0) throw new Error(`waybill migrate ended with ${process.exitCode}; see ${process.logFile}`)
}

/** Tenants, keys, secrets and subscriptions, created through the API. */
const settled = async (workload: Workload, receivers: Receivers, baseUrl: string, operatorKey: string) => {
  const operator = new OperatorClient({ baseUrl, apiKey: operatorKey })
  const carrierKeys = new Map<string, string>()
  const customers = new Map<string, TransitEventsClient>()
  const keys: Array<string> = []
  for (const tenant of workload.tenants) {
    await operator.putTenant(tenant, { name: tenant })
    const { key } = await operator.createApiKey(tenant, { name: "tms", roles: ["carrier"] })
    carrierKeys.set(tenant, key)
    keys.push(key)
    for (const account of workload.accounts) {
      const customer = await operator.createApiKey(tenant, { name: `shipper-${account}`, roles: ["customer"], accounts: [account] })
      keys.push(customer.key)
      customers.set(`${tenant} ${account}`, new TransitEventsClient({ baseUrl, apiKey: customer.key }))
    }
  }
  const destinations: Array<string> = []
  for (const subscriber of workload.subscribers) {
    const { account, batchMaxSize, eventTypes, secretId, tenant } = subscriber
    receivers.secrets.push((await operator.putSecret(tenant, secretId, { anyClient: true })).secret)
    const { id } = await customers.get(`${tenant} ${account}`)!.createSubscription({
      endpointUrl: receivers.urlOf(subscriber),
      hmacSecretId: secretId,
      ...(eventTypes === undefined ? {} : { filters: { eventTypes } }),
      // No dead letters here, so that everything must arrive.
      delivery: { batchMaxSize, maxAttempts: 1000, initialBackoffSeconds: 1, maxBackoffSeconds: 4, rateLimitPerMinute: 600_000 }
    })
    destinations.push(id)
  }
  return { carrierKeys, keys, destinations }
}

interface LeaseRow {
  readonly tenant_id: string
  readonly partition: number
  readonly worker_id: string
  readonly now: number
  /** `null` when the partition was released. */
  readonly until: number | null
}

/** Samples memory and leases. */
const watching = ({ console, servers, subscribers, resumes }: {
  readonly console: Console
  readonly servers: ServerProcesses
  readonly subscribers: ReadonlyArray<{ readonly id: string; readonly index: number; readonly tenant: string }>
  readonly resumes: Resumes
}) => {
  let over = false
  const look = async () => {
    while (!over) {
      servers.sample()
      const rows = await console.run<LeaseRow>(
        `SELECT tenant_id, partition, worker_id, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
                CASE WHEN leased_until > '-infinity' THEN (extract(epoch FROM leased_until) * 1000)::float8 END AS until
         FROM ${schema}.delivery_leases`
      ).catch(() => undefined)
      const leases = new Map(rows?.map((row) => [`${row.tenant_id} ${row.partition}`, row]))
      for (const { id, index, tenant } of rows === undefined ? [] : subscribers) {
        const lease = leases.get(`${tenant} ${partitionOf(id)}`)
        resumes.saw(index, { worker: lease?.worker_id ?? "nobody", ownedSince: lease?.now ?? Date.now(), until: lease?.until ?? undefined })
      }
      await pause(250)
    }
  }
  const looking = look()
  return {
    stop: () => {
      over = true
      return looking
    }
  }
}

interface LeftOver {
  readonly deliveries: number
  readonly attempts: number
  readonly dead: number
  readonly unsettled: number
  readonly entries: number
}

const leftOver = async (console: Console): Promise<LeftOver> => {
  const [row] = await console.run<Record<keyof LeftOver, string | number>>(`
    SELECT count(*)::int4 AS deliveries, coalesce(sum(attempt), 0)::int4 AS attempts,
           count(*) FILTER (WHERE state = 'dead')::int4 AS dead,
           count(*) FILTER (WHERE state IN ('sending', 'waiting'))::int4 AS unsettled,
           (SELECT count(*)::int4 FROM ${schema}.delivery_entries) AS entries
    FROM ${schema}.deliveries`)
  const { attempts, dead, deliveries, entries, unsettled } = row!
  return { deliveries: Number(deliveries), attempts: Number(attempts), dead: Number(dead), unsettled: Number(unsettled), entries: Number(entries) }
}

/** Keeps the rows of the deliveries that violations name. */
const keepRows = async (console: Console, ledger: Ledger, artifacts: string): Promise<void> => {
  const ids = [...ledger.violations.values()].flatMap(({ first }) => first.flatMap((offender) => offender.match(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g) ?? []))
  if (ids.length === 0) return
  const rows = await console.run<{ row: string }>(`SELECT row_to_json(d)::text AS row FROM ${schema}.deliveries AS d WHERE d.delivery_id = ANY ($1::uuid[])`, [ids])
  writeFileSync(join(artifacts, "deliveries.jsonl"), rows.map(({ row }) => `${row}\n`).join(""))
}

/** Waits until the condition holds, or until there was no progress for that long. */
const withoutStandstill = async (seconds: number, isSo: () => boolean | Promise<boolean>, progress: () => number): Promise<void> => {
  let reached = -1
  for (let until = 0; !await isSo();) {
    if (progress() !== reached) {
      reached = progress()
      until = Date.now() + seconds * 1000
    }
    if (Date.now() > until) return
    await pause(250)
  }
}

const countsOf = (given: {
  readonly plan: ChaosPlan
  readonly ledger: Ledger
  readonly faults: FaultInjection
  readonly publisher: Publisher
  readonly receivers: Receivers
  readonly resumes: Resumes
  readonly starvation: Starvation
  readonly servers: ServerProcesses
  readonly left: LeftOver
  readonly logs: LogFindings
  readonly drainedAfter: number
  readonly seconds: number
}): ChaosReport["counts"] => {
  const { drainedAfter, servers, ledger, left, logs, plan, publisher, receivers, resumes, seconds, starvation, faults } = given
  return {
    "events acknowledged": `${ledger.acknowledged} of ${plan.events}`,
    "intake calls": `${publisher.calls}, ${publisher.repeated} of them without an answer or put off; the slowest took ${publisher.worstCallSeconds.toFixed(1)} s with its repetitions`,
    "events to deliver": ledger.expected,
    "events arrived": ledger.arrivals,
    "deliveries": left.deliveries,
    "attempts counted": left.attempts,
    "requests received": ledger.requests,
    "duplicates received": ledger.duplicates,
    "refused, dropped, answered late": `${receivers.refusals}, ${receivers.dropped}, ${receivers.late}`,
    "kill -9": `${faults.kills}, ${faults.killsWhileSending} while sending`,
    "restarts of Postgres": `${faults.restarts.fast} fast, ${faults.restarts.immediate} immediate, ${faults.restarts.killed} after one of its processes was killed`,
    "back ends terminated": faults.terminated,
    "connections half open": `${faults.halfOpen.database} to the database, ${faults.halfOpen.receivers} to receivers, ${faults.halfOpen.intake} to intake`,
    "connections reset": `${faults.resets.database} to the database, ${faults.resets.receivers} to receivers, ${faults.resets.intake} to intake`,
    "connections slowed": faults.delays,
    "connections all taken": faults.exhaustions,
    "destinations locked by others": faults.locks,
    "worst resume": `${(resumes.worstMillis / 1000).toFixed(1)} s, at ${resumes.worstFactor.toFixed(1)} times the machine's own pace; allowed are ${plan.leaseSeconds} + ${plan.resumeSeconds} s at its own; ${resumes.measured} measured; ${resumes.struckAgain} times the taker was struck too, and ${(resumes.worstWholeMillis / 1000).toFixed(1)} s were the worst with that`,
    "the machine": `${starvation.factorSince(0).toFixed(1)} times slower than when idle, on average`,
    "clocks": `${plan.clockShiftSeconds} s ahead and behind; webhook-timestamp from ${ledger.clockSeconds.behind.toFixed(1)} to ${ledger.clockSeconds.ahead.toFixed(1)} s when a request was read`,
    "most memory of a process": `${servers.worstRssMiB.toFixed(0)} MiB`,
    "slowest start of a process": `${servers.worstStartSeconds.toFixed(1)} s`,
    "log": `${logs.lines} lines, ${JSON.stringify(logs.byLevel)}`,
    "drained after": `${drainedAfter.toFixed(1)} s`,
    "took": `${seconds.toFixed(0)} s`
  }
}
