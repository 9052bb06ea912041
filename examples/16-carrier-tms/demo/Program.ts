/** Starts and stops a program of the TMS, as a child process. */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"

export class Program {
  /** Of the web process. */
  readonly address: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, address: string) {
    this.#child = child
    this.address = address
  }

  /** Resolves when the program is ready. Its log goes nowhere. */
  static start = async (name: "server" | "worker", env: Readonly<Record<string, string>>): Promise<Program> => {
    const child = fork(new URL(`../src/${name}.ts`, import.meta.url), { env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "inherit", "ipc"] })
    // this process may end early, with an error
    process.once("exit", () => child.kill("SIGKILL"))
    const [ready] = await Promise.race([
      once(child, "message"),
      once(child, "exit").then(([code]) => Promise.reject(new Error(`${name} ended with ${code} before it was ready.`)))
    ])
    return new Program(child, ready.address)
  }

  /** Sends SIGTERM, and resolves with the exit code. */
  async stop(): Promise<number | null> {
    const ended = once(this.#child, "exit")
    this.#child.kill("SIGTERM")
    const [code] = await ended
    return code
  }
}
