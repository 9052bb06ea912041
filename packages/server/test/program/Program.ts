/** The real program as a child process, with helpers: eventually, a schema, a receiver. */
import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes, randomUUID } from "node:crypto"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, inject, onTestFinished } from "vitest"

const source = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** Arguments and environment of Node. Tests run a bundle: see buildProgram.ts. */
export const programCommand = (fromSource = false): { readonly args: ReadonlyArray<string>; readonly env: Readonly<Record<string, string>> } => {
  if (fromSource) return { args: ["--conditions=@waybill/source", "--disable-warning=ExperimentalWarning", source], env: {} }
  const { compileCache, path } = inject("program")
  return { args: ["--disable-warning=ExperimentalWarning", path], env: { NODE_COMPILE_CACHE: compileCache } }
}

const launch = `
  import { runOnPinnedNode } from ${JSON.stringify(new URL("../../../../scripts/workspace.mjs", import.meta.url).href)}
  runOnPinnedNode(process.argv.slice(1))
`

interface ProgramOptions {
  readonly args?: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly uid?: number
  readonly gid?: number
  /** Runs the source files instead of the bundle, for preloaded modules that share them. */
  readonly fromSource?: boolean
  /** Runs it as `npm start` does, as the child of a launcher, in a process group of their own. */
  readonly launched?: boolean
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export class Program {
  stdout = ""
  stderr = ""
  ended: Ended | undefined
  readonly child: ChildProcess
  /** A worker has no OpenAPI document. */
  private readonly isDescribed: boolean

  /** A server that still runs at the end of a test that passed is stopped, and has to end orderly. Anything else is killed. */
  constructor({ args = ["serve"], cwd = tmpdir(), env = {}, fromSource = false, gid, launched = false, uid }: ProgramOptions) {
    const command = programCommand(fromSource)
    const own = [...command.args, ...args]
    this.isDescribed = env["WAYBILL_ROLE"] !== "worker"
    this.child = spawn(process.execPath, launched ? ["--input-type=module", "--eval", launch, ...own] : own, {
      cwd,
      detached: launched,
      // The environment of the tests must not reach the program.
      env: { PATH: process.env["PATH"] ?? "", HOME: tmpdir(), WAYBILL_DRAIN_DELAY_SECONDS: "0", ...command.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      ...(uid === undefined ? {} : { uid }),
      ...(gid === undefined ? {} : { gid })
    })
    this.child.stdout!.setEncoding("utf8").on("data", (text: string) => this.stdout += text)
    this.child.stderr!.setEncoding("utf8").on("data", (text: string) => this.stderr += text)
    this.child.once("close", (code, signal) => this.ended = { code, signal })
    onTestFinished(async ({ task }) => {
      if (this.ended !== undefined) return
      const isStopped = (args[0] ?? "serve") === "serve" && task.result?.state !== "fail"
      const ended = await this.kill(isStopped ? "SIGTERM" : "SIGKILL")
      if (isStopped) expect(ended, this.output).toEqual({ code: 0, signal: null })
    })
  }

  get output(): string {
    return this.stdout + this.stderr
  }

  /** Its log entries. */
  get log(): ReadonlyArray<Readonly<Record<string, any>>> {
    return this.stderr.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line))
  }

  /** Waits until it is ready, and returns its URL. */
  async ready(seconds = 60): Promise<string> {
    const entry = await eventually(() => {
      if (this.ended !== undefined) throw new Error(`The program ended with ${JSON.stringify(this.ended)}:\n${this.output}`)
      return this.log.find(({ message }) => message === "Ready.")
    }, { seconds, what: () => `the program being ready:\n${this.output}` })
    if (this.isDescribed) globalThis.waybillOpenApi?.describeServer(entry["url"])
    return entry["url"]
  }

  async end(seconds = 60): Promise<Ended> {
    return await eventually(() => this.ended, { seconds, what: () => `the program's end:\n${this.output}` })
  }

  kill(signal: NodeJS.Signals): Promise<Ended> {
    this.child.kill(signal)
    return this.end()
  }
}

/** A program that is ready. */
export const startProgram = async (options: ProgramOptions) => {
  const program = new Program(options)
  return { program, url: await program.ready() }
}

/** Retries until there is a result. */
export const eventually = async <A>(
  ask: () => A | undefined | Promise<A | undefined>,
  options: { readonly seconds?: number; readonly what?: () => string } = {}
): Promise<A> => {
  const until = Date.now() + (options.seconds ?? 20) * 1000
  for (;;) {
    const answer = await ask()
    if (answer !== undefined) return answer
    if (Date.now() > until) throw new Error(`Waited ${options.seconds ?? 20} s in vain for ${options.what?.() ?? "something"}`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

/** A temporary directory of this test; every user may traverse it. */
export const directory = (owner?: { readonly uid: number; readonly gid: number }): string => {
  const dir = mkdtempSync(join(tmpdir(), "waybill-program-"))
  chmodSync(dir, owner === undefined ? 0o755 : 0o777)
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }))
  return dir
}

/** A server on the test's Postgres with its own schema, shared by all processes with these settings. */
export const sharedSettings = (pgUrl: string, more: Readonly<Record<string, string>> = {}) => {
  const operatorKey = randomBytes(24).toString("hex")
  const sealingKey = randomBytes(32).toString("base64")
  return {
    operatorKey,
    sealingKey,
    env: {
      WAYBILL_PORT: "0",
      WAYBILL_DATABASE_URL: pgUrl,
      WAYBILL_SCHEMA: `program_${randomUUID().slice(0, 8)}`,
      WAYBILL_OPERATOR_KEY: operatorKey,
      WAYBILL_SEALING_KEY: sealingKey,
      WAYBILL_EGRESS_ALLOW: "127.0.0.1",
      WAYBILL_DATA_DIR: join(tmpdir(), `waybill-none-${randomUUID()}`),
      ...more
    } as Readonly<Record<string, string>>
  }
}

export interface Reception {
  readonly id: string
  readonly at: number
  readonly path: string
  /** The sender's port. */
  readonly port: number
  readonly headers: IncomingMessage["headers"]
  readonly body: string
  /** The sender disconnected before the response. */
  lost: boolean
}

/** A webhook receiver that records requests. Closed at the end of the test. */
export const receiver = async (
  answer: (reception: Reception, response: ServerResponse) => void = (_, response) => void response.writeHead(200).end()
) => {
  const receptions: Array<Reception> = []
  const server = await listening((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("error", () => {})
    request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
      const reception: Reception = {
        id: String(request.headers["webhook-id"]),
        at: Date.now(),
        path: request.url!,
        port: request.socket.remotePort!,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
        lost: false
      }
      receptions.push(reception)
      response.on("close", () => {
        if (!response.writableFinished) reception.lost = true
      })
      answer(reception, response)
    })
  })
  return { url: urlOf(server), receptions, server }
}

export const listening = async (handler: (request: IncomingMessage, response: ServerResponse) => void): Promise<Server> => {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return server
}

/** A port without a listener. */
export const freePort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  await new Promise<void>((resolve) => server.close(() => resolve()))
  return port
}

export const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/** The given secrets that the text contains. */
export const leaked = (text: string, secrets: ReadonlyArray<string>): ReadonlyArray<string> =>
  secrets.filter((secret) => text.includes(secret) || text.includes(encodeURIComponent(secret)))
