/** The server processes: each in its own directory, with a proxy to its database and one in front of its intake. */
import { join } from "node:path"
import type { Cluster } from "./Cluster.ts"
import { pause, type ChaosPlan } from "./Plan.ts"
import { Proxy } from "./Proxy.ts"
import type { Violated } from "./Rules.ts"
import { ServerProcess } from "./ServerProcess.ts"

/** Some processes must work with few connections. */
const poolSizes = [20, 3, 6, 10]

export interface Berth {
  readonly index: number
  readonly database: Proxy
  readonly intake: Proxy
  readonly clockShiftSeconds: number
  process: ServerProcess | undefined
}

export interface FleetOptions {
  readonly plan: ChaosPlan
  readonly cluster: Cluster
  readonly env: Readonly<Record<string, string>>
  readonly artifacts: string
  readonly violated: Violated
}

export class Fleet {
  readonly berths: Array<Berth> = []
  readonly processes: Array<ServerProcess> = []
  worstRssMiB = 0
  worstStartSeconds = 0
  private closing = false
  private readonly options: FleetOptions

  private constructor(options: FleetOptions) {
    this.options = options
  }

  static async open(options: FleetOptions): Promise<Fleet> {
    const fleet = new Fleet(options)
    const { cluster, plan } = options
    for (let index = 0; index < plan.processes; index++) {
      const berth: Berth = {
        index,
        database: await Proxy.open(() => ({ host: "127.0.0.1", port: cluster.port })),
        intake: await Proxy.open(() => berth.process?.port === undefined ? undefined : { host: "127.0.0.1", port: berth.process.port }),
        clockShiftSeconds: index === 1 ? plan.clockShiftSeconds : index === 2 ? -plan.clockShiftSeconds : 0,
        process: undefined
      }
      fleet.berths.push(berth)
    }
    return fleet
  }

  start(berth: Berth): ServerProcess | undefined {
    if (this.closing) return undefined
    const { artifacts, cluster, env, violated } = this.options
    const number = this.processes.length
    const process = new ServerProcess({
      env: {
        ...env,
        WAYBILL_DATABASE_URL: cluster.urlAt(berth.database.port),
        WAYBILL_POOL_SIZE: String(poolSizes[berth.index % poolSizes.length])
      },
      clockShiftSeconds: berth.clockShiftSeconds,
      logFile: join(artifacts, `process-${String(number).padStart(3, "0")}-berth-${berth.index}.log`)
    })
    this.processes.push(process)
    berth.process = process
    void process.exited.then(() => {
      if (process.killed || this.closing) return
      violated("no process ends by itself", `${process.logFile} with ${process.exitCode}`)
      // Start another process after any exit.
      void pause(500).then(() => {
        if (!this.closing && berth.process === process) this.start(berth)
      })
    })
    return process
  }

  get ready(): ReadonlyArray<Berth> {
    return this.berths.filter(({ process }) => process?.isReady === true)
  }

  async untilReady(millis: number): Promise<void> {
    for (const until = Date.now() + millis; this.ready.length < this.berths.length;) {
      if (Date.now() > until) throw new Error(`After ${millis / 1000} s only ${this.ready.length} of ${this.berths.length} processes are ready.`)
      await pause(50)
    }
  }

  sample(): void {
    for (const { process } of this.berths) {
      if (process === undefined) continue
      this.worstRssMiB = Math.max(this.worstRssMiB, process.rssMiB)
      if (process.readyAt !== undefined) this.worstStartSeconds = Math.max(this.worstStartSeconds, (process.readyAt - process.startedAt) / 1000)
    }
  }

  /** Stops them gracefully; returns those that did not exit cleanly. */
  async stop(): Promise<ReadonlyArray<string>> {
    this.closing = true
    const stubborn: Array<string> = []
    await Promise.all(this.berths.map(async ({ process }) => {
      if (process === undefined || process.exitCode !== undefined) return
      const late = Symbol("late")
      const ended = await Promise.race([process.kill("SIGTERM"), pause(30_000).then(() => late)])
      if (ended === late) {
        process.report()
        await pause(2_000)
        await process.kill("SIGKILL")
      }
      if (process.exitCode !== 0) stubborn.push(`${process.logFile} with ${process.exitCode}`)
    }))
    return stubborn
  }

  async close(): Promise<void> {
    this.closing = true
    await Promise.all(this.berths.map(({ process }) => process?.exitCode === undefined ? process?.kill("SIGKILL") : undefined))
    await Promise.all(this.berths.flatMap(({ database, intake }) => [database.close(), intake.close()]))
  }
}
