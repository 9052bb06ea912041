/** Calls into a child process: each measured program runs in its own process. */
import { fork } from "node:child_process"
import { fileURLToPath } from "node:url"

/** The functions of a child process, by name. */
export type Handlers = Readonly<Record<string, (...args: ReadonlyArray<never>) => unknown>>

/** The same functions for the calling process. */
export type Remote<H> = {
  readonly [K in keyof H]: H[K] extends (...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : never
}

export interface Child<H> {
  readonly call: Remote<H>
  readonly pid: number
  /** Resolves when the process has exited. */
  readonly end: () => Promise<void>
}

interface Call {
  readonly id: number
  readonly method: string
  readonly args: ReadonlyArray<unknown>
}

type Answer = { readonly id: number } & ({ readonly value: unknown } | { readonly error: string })

/** Starts `module` and waits until it serves. */
export const startChild = async <H extends Handlers>(
  module: URL,
  args: ReadonlyArray<string>,
  execArgv: ReadonlyArray<string> = []
): Promise<Child<H>> => {
  const child = fork(fileURLToPath(module), [...args], {
    execArgv: ["--conditions=@waybill/source", "--disable-warning=ExperimentalWarning", ...execArgv],
    serialization: "advanced",
    stdio: ["ignore", "inherit", "inherit", "ipc"]
  })
  const waiting = new Map<number, { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void }>()
  const gone = new Promise<void>((done) => child.once("exit", () => done()))
  child.once("exit", (code, signal) => {
    for (const { reject } of waiting.values()) reject(new Error(`${module.pathname} ended with ${code ?? signal} before it answered.`))
  })
  child.on("message", (answer: Answer) => {
    const caller = waiting.get(answer.id)
    waiting.delete(answer.id)
    if ("error" in answer) caller?.reject(new Error(answer.error))
    else caller?.resolve(answer.value)
  })
  let calls = 0
  const send = (method: string, args: ReadonlyArray<unknown>) =>
    new Promise<unknown>((resolve, reject) => {
      const id = calls++
      waiting.set(id, { resolve, reject })
      child.send({ id, method, args } satisfies Call)
    })
  const call = new Proxy({}, { get: (_, method: string) => (...args: ReadonlyArray<unknown>) => send(method, args) })
  await send("ready", [])
  return {
    call: call as Remote<H>,
    pid: child.pid!,
    end: () => {
      child.disconnect()
      return gone
    }
  }
}

/** For the module of a child process: answers calls concurrently until the caller exits. */
export const serve = (handlers: Handlers, close: () => unknown = () => undefined): void => {
  process.on("message", ({ args, id, method }: Call) => {
    const answer = async () => method === "ready" ? undefined : await handlers[method]!(...args as ReadonlyArray<never>)
    answer().then(
      (value) => process.send?.({ id, value } satisfies Answer),
      (error: unknown) => process.send?.({ id, error: error instanceof Error ? error.stack ?? error.message : String(error) } satisfies Answer)
    )
  })
  process.once("disconnect", () => {
    Promise.resolve(close()).catch(() => undefined).finally(() => process.exit(0))
  })
}
