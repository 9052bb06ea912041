/** A load balancer: it polls the readiness of each process, and sends requests to those that are. */
import { setTimeout as delay } from "node:timers/promises"

const intervalMillis = 50

export class LoadBalancer {
  private readonly ready = new Set<number>()
  private next = 0

  /** Resolves when the process is ready. */
  async add(port: number): Promise<void> {
    while (await this.check(port) !== 200) await delay(intervalMillis)
    void this.watch(port)
  }

  /** The status of the answer; 0 without an answer. The request waits while no process is ready. */
  async post(path: string): Promise<number> {
    while (this.ready.size === 0) await delay(intervalMillis)
    const ports = [...this.ready]
    const port = ports[this.next++ % ports.length]
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", headers: { connection: "close" } }).catch(() => undefined)
    return response?.status ?? 0
  }

  /** Waits until the process stops answering. */
  private async watch(port: number): Promise<void> {
    for (let answered: number | undefined = 200; answered !== undefined; answered = await this.check(port)) await delay(intervalMillis, undefined, { ref: false })
  }

  private async check(port: number): Promise<number | undefined> {
    const status = await fetch(`http://127.0.0.1:${port}/ready`, { headers: { connection: "close" } }).then((response) => response.status, () => undefined)
    if (status === 200) this.ready.add(port)
    else this.ready.delete(port)
    return status
  }
}
