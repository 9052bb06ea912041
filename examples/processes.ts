/** Starts and stops the processes of an example. */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"

/** Starts a program, and resolves with its first message when it is ready. */
export const startProcess = async (program: URL, env: Readonly<Record<string, string>>): Promise<{ readonly child: ChildProcess; readonly port: number }> => {
  const child = fork(program, { env: { ...process.env, ...env } })
  const [message] = await Promise.race([
    once(child, "message"),
    once(child, "exit").then(([code]) => Promise.reject(new Error(`${program.pathname} ended with ${code}`)))
  ])
  return { child, port: message.port }
}

/** Sends SIGTERM, and resolves with the exit code. */
export const stopProcess = async ({ child }: { readonly child: ChildProcess }): Promise<number> => {
  const ended = once(child, "exit")
  child.kill("SIGTERM")
  const [code] = await ended
  return code
}
