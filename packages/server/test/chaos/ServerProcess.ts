/** One `waybill serve` process, with its log in a file and an optional clock offset. */
import { type ChildProcess, spawn } from "node:child_process"
import { createWriteStream, readFileSync, type WriteStream } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname } from "node:path"
import { connectionsOf } from "../program/connectionsOf.ts"
import type { BuiltProgram } from "../program/buildProgram.ts"

const clock = new URL("./shifted-clock.mjs", import.meta.url).href
const endWithLauncher = new URL("../../../../scripts/end-with-launcher.mjs", import.meta.url).href

export interface ServerOptions {
  readonly program: BuiltProgram
  readonly args?: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
  readonly clockShiftSeconds?: number
  readonly logFile: string
}

export class ServerProcess {
  readonly startedAt = Date.now()
  readonly pid: number
  readonly logFile: string
  /** Its port, once it is ready. */
  port: number | undefined
  readyAt: number | undefined
  exitCode: number | string | undefined
  /** Resolves when the process exits. */
  readonly exited: Promise<void>
  /** The test killed it. */
  killed = false
  private readonly child: ChildProcess
  private readonly log: WriteStream
  private tail = ""

  constructor({ args = ["serve"], clockShiftSeconds = 0, env, logFile, program }: ServerOptions) {
    this.logFile = logFile
    this.log = createWriteStream(logFile)
    this.child = spawn(process.execPath, [
      "--disable-warning=ExperimentalWarning",
      "--report-on-signal", "--report-exclude-env", `--report-directory=${dirname(logFile)}`, `--report-filename=${basename(logFile, ".log")}.json`,
      `--import=${endWithLauncher}`, `--import=${clock}`, program.path, ...args
    ], {
      cwd: tmpdir(),
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: tmpdir(),
        NODE_COMPILE_CACHE: program.compileCache,
        WAYBILL_LAUNCHER: String(process.pid),
        WAYBILL_DRAIN_DELAY_SECONDS: "0",
        CHAOS_CLOCK_SHIFT_SECONDS: String(clockShiftSeconds),
        ...env
      },
      stdio: ["ignore", "pipe", "pipe", "ipc"]
    })
    this.pid = this.child.pid ?? 0
    for (const stream of [this.child.stdout!, this.child.stderr!]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.log.write(text)
        if (this.port === undefined) this.lookForPort(text)
      })
    }
    this.exited = new Promise((resolve) => {
      this.child.once("close", (code, signal) => {
        this.exitCode = code ?? signal ?? "?"
        this.log.end(resolve)
      })
      this.child.once("error", () => resolve())
    })
  }

  private lookForPort(text: string): void {
    this.tail += text
    const line = this.tail.split("\n").find((each) => each.includes("\"message\":\"Ready.\"") && each.endsWith("}"))
    if (line === undefined) return
    this.port = Number(new URL(JSON.parse(line).url).port)
    this.readyAt = Date.now()
    this.tail = ""
  }

  get isReady(): boolean {
    return this.port !== undefined && this.exitCode === undefined && !this.killed
  }

  kill(signal: NodeJS.Signals): Promise<void> {
    this.killed = true
    this.child.kill(signal)
    return this.exited
  }

  /** Makes it write a diagnostic report next to its log. */
  report(): void {
    this.child.kill("SIGUSR2")
  }

  /** Resident memory in MiB; 0 after it exited. */
  get rssMiB(): number {
    try {
      return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${this.pid}/status`, "utf8"))?.[1] ?? 0) / 1024
    } catch {
      return 0
    }
  }

  /** The local ports of its connections; none after it exited. */
  get ports(): ReadonlySet<number> {
    try {
      return connectionsOf(this.pid)
    } catch {
      return new Set()
    }
  }
}
