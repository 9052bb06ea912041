/**
 * Measures the slowdown of this machine: a thread repeatedly uses five milliseconds of processor time and measures how
 * long they took. Time limits are extended by this factor.
 */
import { isMainThread, parentPort, Worker } from "node:worker_threads"

const burnMicros = 5_000
const everyMillis = 200

interface Sample {
  readonly at: number
  readonly factor: number
}

export class Starvation {
  private readonly samples: Array<Sample> = []
  private readonly worker = new Worker(new URL(import.meta.url), { execArgv: ["--disable-warning=ExperimentalWarning"] })

  constructor() {
    this.worker.on("message", (factor: number) => this.samples.push({ at: Date.now(), factor }))
    this.worker.unref()
  }

  /** Mean since that time; 1 on an idle machine. */
  factorSince(from: number): number {
    let sum = 0
    let count = 0
    for (let index = this.samples.length - 1; index >= 0 && this.samples[index]!.at >= from; index--) {
      sum += this.samples[index]!.factor
      count += 1
    }
    return count === 0 ? 1 : Math.max(1, sum / count)
  }

  async close(): Promise<void> {
    await this.worker.terminate()
  }
}

const measure = (): void => {
  const began = performance.now()
  const before = process.threadCpuUsage()
  for (;;) {
    const { system, user } = process.threadCpuUsage(before)
    if (system + user >= burnMicros) break
  }
  parentPort?.postMessage((performance.now() - began) * 1000 / burnMicros)
}

if (!isMainThread) setInterval(measure, everyMillis)
