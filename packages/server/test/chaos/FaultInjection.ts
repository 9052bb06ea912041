/** Injects the faults, each kind in its own loop. */
import { Console, type Cluster, type RestartMode } from "./Cluster.ts"
import type { ServerSlot, ServerProcesses } from "./ServerProcesses.ts"
import type { Workload } from "./Workload.ts"
import type { Ledger } from "./Ledger.ts"
import { type ChaosPlan, pause, pick, type Random } from "./Plan.ts"
import type { ProxiedConnection } from "./Proxy.ts"
import type { Receivers } from "./Receivers.ts"
import type { Resumes } from "./Resumes.ts"

interface FaultInjectionOptions {
  readonly plan: ChaosPlan
  readonly random: Random
  readonly cluster: Cluster
  readonly console: Console
  readonly servers: ServerProcesses
  readonly workload: Workload
  readonly ledger: Ledger
  readonly receivers: Receivers
  readonly resumes: Resumes
  readonly schema: string
  readonly say: (line: string) => void
}

const restartModes: ReadonlyArray<RestartMode> = ["fast", "immediate", "killed"]

const exhaustionSeconds = 4
const lockSeconds = 1.5

export class FaultInjection {
  kills = 0
  /** Kills of a process with deliveries in flight. */
  killsWhileSending = 0
  restarts: Record<RestartMode, number> = { fast: 0, immediate: 0, killed: 0 }
  terminated = 0
  exhaustions = 0
  locks = 0
  halfOpen = { database: 0, receivers: 0, intake: 0 }
  resets = { database: 0, receivers: 0, intake: 0 }
  delays = 0
  private over = false
  /** Postgres is stopping, starting or full: no other large fault meanwhile. */
  private busy = false
  private readonly options: FaultInjectionOptions

  constructor(options: FaultInjectionOptions) {
    this.options = options
  }

  /** Runs until all kills and restarts are done and `seconds` have passed. */
  async run(): Promise<void> {
    const { plan } = this.options
    const began = Date.now()
    const small = [
      this.every(1_000, () => this.terminate()),
      this.every(1_500, () => this.disturbDatabaseConnection()),
      this.every(400, () => this.disturbReceiverConnection()),
      this.every(3_000, () => this.disturbIntakeConnection()),
      this.every(10_000, () => this.holdLocks())
    ]
    await Promise.all([
      this.spread(plan.kills, 0.02, () => this.kill()),
      this.spread(plan.restarts, 0.08, (index) => this.restart(restartModes[index % restartModes.length]!)),
      this.spread(plan.exhaustions, 0.15, () => this.exhaust()),
      pause(Math.max(0, began + plan.seconds * 1000 - Date.now()))
    ])
    this.over = true
    await Promise.all(small)
  }

  /** Spreads actions evenly over the time, one after the other. */
  private async spread(times: number, offset: number, act: (index: number) => Promise<void>): Promise<void> {
    const { random, seconds } = { ...this.options, ...this.options.plan }
    const began = Date.now()
    for (let index = 0; index < times; index++) {
      const due = began + (offset + (index + 0.3 * random()) / times * (0.98 - offset)) * seconds * 1000
      await pause(Math.max(0, due - Date.now()))
      await act(index)
    }
  }

  private async every(millis: number, act: () => Promise<void> | void): Promise<void> {
    while (!this.over) {
      await pause(millis * (0.5 + this.options.random()))
      // The database may be down; the next action retries.
      await Promise.resolve(act()).catch(() => undefined)
    }
  }

  private async acquireExclusive(): Promise<() => void> {
    while (this.busy) await pause(20)
    this.busy = true
    return () => {
      this.busy = false
    }
  }

  /** Kills the process with the most requests in flight, or any; it is replaced soon. */
  private async kill(): Promise<void> {
    const { servers, ledger, random, receivers, resumes, say } = this.options
    // Processes start slowly on a slow machine; the test needs others that work.
    while (servers.ready.length < Math.max(2, servers.slots.length - 1)) await pause(20)
    const release = await this.acquireExclusive()
    const slot = random() < 0.2 ? pick(random, servers.ready)! : await this.busiest()
    const process = slot.process!
    const { ports } = process
    const under = [...receivers.unanswered].filter(({ senderPort }) => ports.has(senderPort))
    const now = Date.now()
    const gone = process.kill("SIGKILL")
    const held = new Set(under.map(({ subscriber }) => subscriber).filter(({ origin }) => this.options.workload.isStable(origin)))
    for (const subscriber of held) resumes.await(subscriber, `kill ${this.kills + 1} of process ${process.pid}`, now, false)
    this.kills += 1
    if (under.length > 0) this.killsWhileSending += 1
    say(`kill ${this.kills} of slot ${slot.index} with ${under.length} requests in flight; ${ledger.acknowledged} events in, ${ledger.arrivals} received`)
    release()
    await gone
    void pause(random() * 1_500).then(() => {
      servers.start(slot)
    })
  }

  /** The process with the most requests in flight to stable receivers, as soon as there is one; after 1.5 seconds, any. */
  private async busiest(): Promise<ServerSlot> {
    const { servers, workload, random, receivers } = this.options
    for (const until = Date.now() + 1_500;;) {
      const steady = [...receivers.unanswered].filter(({ subscriber }) => workload.isStable(subscriber.origin))
      const counted = steady.length === 0 ? [] : servers.ready.map((slot) => {
        const ports = slot.process!.ports
        return { slot, count: steady.filter(({ senderPort }) => ports.has(senderPort)).length }
      })
      const most = counted.toSorted((a, b) => b.count - a.count)[0]
      if (most !== undefined && most.count > 0) return most.slot
      if (Date.now() > until && servers.ready.length > 0) return pick(random, servers.ready)!
      await pause(10)
    }
  }

  private async restart(mode: RestartMode): Promise<void> {
    const { cluster, workload, ledger, random, resumes, say } = this.options
    const release = await this.acquireExclusive()
    const over = resumes.outage()
    try {
      if (mode === "killed") await this.killBackend()
      else await cluster.restart(mode, random() * 1_500)
    } finally {
      over()
      release()
    }
    const now = Date.now()
    const missingEvents = workload.subscribers.filter((subscriber) => workload.isStable(subscriber.origin) && ledger.isMissingEvents(subscriber))
    for (const subscriber of missingEvents) resumes.await(subscriber, `${mode} restart of Postgres`, now, true)
    this.restarts[mode] += 1
    say(`${mode} restart of Postgres done; ${missingEvents.length} healthy subscriptions have waiting entries`)
  }

  /** Postgres ends all connections, and recovers as after a power failure. */
  private async killBackend(): Promise<void> {
    const { console } = this.options
    const [row] = await console.run<{ pid: number }>("SELECT pid FROM pg_stat_activity WHERE application_name = 'waybill' ORDER BY random() LIMIT 1")
    if (row === undefined) return
    process.kill(row.pid, "SIGKILL")
    for (let isThere = false; !isThere;) {
      await pause(50)
      isThere = await console.run("SELECT 1").then(() => true, () => false)
    }
  }

  /** Another client takes all remaining connections. */
  private async exhaust(): Promise<void> {
    const { cluster, resumes, say } = this.options
    const release = await this.acquireExclusive()
    const others = new Console(cluster.urlAt(cluster.port), 220)
    const over = resumes.outage()
    try {
      const held = await Promise.all(Array.from({ length: 210 }, () =>
        others.run(`SELECT pg_sleep(${exhaustionSeconds})`).then(() => 1, () => 0)))
      this.exhaustions += 1
      say(`${held.reduce<number>((sum, each) => sum + each, 0)} connections were taken by another client for ${exhaustionSeconds} s`)
    } finally {
      await others.close().catch(() => undefined)
      over()
      release()
    }
  }

  private async terminate(): Promise<void> {
    const [row] = await this.options.console.run<{ ended: boolean }>(
      `SELECT pg_terminate_backend(pid) AS ended FROM pg_stat_activity WHERE application_name = 'waybill' ORDER BY random() LIMIT 1`
    )
    if (row?.ended === true) this.terminated += 1
  }

  /** Another transaction locks subscriptions for too long. */
  private async holdLocks(): Promise<void> {
    const { console, schema } = this.options
    await console.run(
      `WITH held AS MATERIALIZED (
         SELECT destination_id FROM ${schema}.delivery_destinations WHERE destination_id IN (SELECT destination_id FROM ${schema}.delivery_destinations ORDER BY random() LIMIT 5) FOR UPDATE
       )
       SELECT pg_sleep(${lockSeconds}), count(*) FROM held`
    )
    this.locks += 1
  }

  private disturbDatabaseConnection(): void {
    const { servers, random } = this.options
    const connection = pick(random, servers.slots.flatMap(({ database }) => undisturbed(database.connections)))
    if (connection === undefined) return
    if (random() < 0.3) {
      connection.reset()
      this.resets.database += 1
    } else {
      connection.halfOpen = random() < 0.6 ? "whole" : "answers"
      this.halfOpen.database += 1
    }
  }

  private disturbReceiverConnection(): void {
    const { random, receivers } = this.options
    const connection = pick(random, receivers.faultyConnections.filter(({ halfOpen }) => halfOpen === undefined))
    if (connection === undefined) return
    const draw = random()
    if (draw < 0.35) {
      connection.halfOpen = random() < 0.5 ? "whole" : "answers"
      this.halfOpen.receivers += 1
    } else if (draw < 0.65) {
      connection.reset()
      this.resets.receivers += 1
    } else {
      connection.delayMillis = random() * 600
      this.delays += 1
    }
  }

  private disturbIntakeConnection(): void {
    const { servers, random } = this.options
    const connection = pick(random, servers.slots.flatMap(({ intake }) => undisturbed(intake.connections)))
    if (connection === undefined) return
    if (random() < 0.5) {
      connection.halfOpen = "answers"
      this.halfOpen.intake += 1
    } else {
      connection.reset()
      this.resets.intake += 1
    }
  }
}

const undisturbed = (connections: Iterable<ProxiedConnection>): ReadonlyArray<ProxiedConnection> => [...connections].filter(({ halfOpen, client }) => halfOpen === undefined && !client.destroyed)
