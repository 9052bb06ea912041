/** The server processes: each in its own directory, with a proxy to its database and one in front of its intake. */
import { join } from "node:path"
import type { BuiltProgram } from "../program/buildProgram.ts"
import type { Cluster } from "./Cluster.ts"
import { pause, type ChaosPlan } from "./Plan.ts"
import { Proxy } from "./Proxy.ts"
import type { Violated } from "./Rules.ts"
import { ServerProcess } from "./ServerProcess.ts"

/** Some processes must work with few connections. */
const poolSizes = [20, 3, 6, 10]

export interface ServerSlot {
  readonly index: number
  readonly database: Proxy
  readonly intake: Proxy
  readonly clockShiftSeconds: number
  process: ServerProcess | undefined
}

interface ServerProcessesOptions {
  readonly plan: ChaosPlan
  readonly cluster: Cluster
  readonly program: BuiltProgram
  readonly env: Readonly<Record<string, string>>
  readonly artifacts: string
  readonly violated: Violated
}

export class ServerProcesses {
  readonly slots: Array<ServerSlot> = []
  readonly processes: Array<ServerProcess> = []
  worstRssMiB = 0
  worstStartSeconds = 0
  private closing = false
  private readonly options: ServerProcessesOptions

  private constructor(options: ServerProcessesOptions) {
    this.options = options
  }

  static async open(options: ServerProcessesOptions): Promise<ServerProcesses> {
    const servers = new ServerProcesses(options)
    const { cluster, plan } = options
    for (let index = 0; index < plan.processes; index++) {
      const slot: ServerSlot = {
        index,
        database: await Proxy.open(() => ({ host: "127.0.0.1", port: cluster.port })),
        intake: await Proxy.open(() => slot.process?.port === undefined ? undefined : { host: "127.0.0.1", port: slot.process.port }),
        clockShiftSeconds: index === 1 ? plan.clockShiftSeconds : index === 2 ? -plan.clockShiftSeconds : 0,
        process: undefined
      }
      servers.slots.push(slot)
    }
    return servers
  }

  start(slot: ServerSlot): ServerProcess | undefined {
    if (this.closing) return undefined
    const { artifacts, cluster, env, program, violated } = this.options
    const number = this.processes.length
    const process = new ServerProcess({
      program,
      env: {
        ...env,
        WAYBILL_DATABASE_URL: cluster.urlAt(slot.database.port),
        WAYBILL_POOL_SIZE: String(poolSizes[slot.index % poolSizes.length])
      },
      clockShiftSeconds: slot.clockShiftSeconds,
      logFile: join(artifacts, `process-${String(number).padStart(3, "0")}-slot-${slot.index}.log`)
    })
    this.processes.push(process)
    slot.process = process
    void process.exited.then(() => {
      if (process.killed || this.closing) return
      violated("no process exits unexpectedly", `${process.logFile} with ${process.exitCode}`)
      // Start another process after any exit.
      void pause(500).then(() => {
        if (!this.closing && slot.process === process) this.start(slot)
      })
    })
    return process
  }

  get ready(): ReadonlyArray<ServerSlot> {
    return this.slots.filter(({ process }) => process?.isReady === true)
  }

  async untilReady(millis: number): Promise<void> {
    for (const until = Date.now() + millis; this.ready.length < this.slots.length;) {
      if (Date.now() > until) throw new Error(`After ${millis / 1000} s only ${this.ready.length} of ${this.slots.length} processes are ready.`)
      await pause(50)
    }
  }

  sample(): void {
    for (const { process } of this.slots) {
      if (process === undefined) continue
      this.worstRssMiB = Math.max(this.worstRssMiB, process.rssMiB)
      if (process.readyAt !== undefined) this.worstStartSeconds = Math.max(this.worstStartSeconds, (process.readyAt - process.startedAt) / 1000)
    }
  }

  /** Stops them gracefully; returns those that did not exit cleanly. */
  async stop(): Promise<ReadonlyArray<string>> {
    this.closing = true
    const stubborn: Array<string> = []
    await Promise.all(this.slots.map(async ({ process }) => {
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
    await Promise.all(this.slots.map(({ process }) => process?.exitCode === undefined ? process?.kill("SIGKILL") : undefined))
    await Promise.all(this.slots.flatMap(({ database, intake }) => [database.close(), intake.close()]))
  }
}
