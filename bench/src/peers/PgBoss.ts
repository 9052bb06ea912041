/** pg-boss, with batches and several workers for throughput, or with its LISTEN/NOTIFY for latency. */
import { type Job, PgBoss } from "pg-boss"
import { sampleBody } from "../waybill/SampleEvent.ts"
import { type Contender, type ContenderOptions, countdown, nowMillis } from "./Contender.ts"
import { makePoster } from "./SignedPost.ts"

const queue = "deliver"

const presets = {
  throughput: { batchSize: 1000, localConcurrency: 2, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true },
  latency: { batchSize: 10, localConcurrency: 4, pollingIntervalSeconds: 0.5, notifyPollingIntervalSeconds: 1 }
}

interface Payload {
  readonly body: string
}

export const makePgBoss = async (options: ContenderOptions): Promise<Contender> => {
  const poster = makePoster(options.receiver, { connections: 64, sign: true })
  const notify = options.tuned === "latency"
  const boss = new PgBoss({
    connectionString: options.database,
    max: 10,
    supervise: false,
    schedule: false,
    useListenNotify: notify
  })
  boss.on("error", (error) => console.error(error))
  await boss.start()
  await boss.createQueue(queue, { notify })

  let tick = () => {}
  const batch = options.batchMaxSize ?? 1
  const deliver = async (jobs: ReadonlyArray<Job<Payload>>) => {
    if (batch === 1) {
      await Promise.all(jobs.map((job) => poster.post(job.id, job.data.body)))
    } else {
      for (let at = 0; at < jobs.length; at += batch) {
        const part = jobs.slice(at, at + batch)
        await poster.post(part[0]!.id, `{"events":[${part.map((job) => job.data.body).join(",")}]}`)
      }
    }
    for (const _ of jobs) tick()
  }
  const start = async () => {
    await boss.work<Payload>(queue, presets[options.tuned], deliver)
  }
  const stop = () => boss.offWork(queue)
  return {
    fill: async (count) => {
      for (let done = 0; done < count; done += 1000) {
        const size = Math.min(1000, count - done)
        await boss.insert(queue, Array.from({ length: size }, (_, n) => ({ data: { body: sampleBody(done + n) } })))
      }
    },
    drain: async (count) => {
      const all = countdown(count)
      tick = all.tick
      await start()
      const startedAt = nowMillis()
      await all.done
      await stop()
      return startedAt
    },
    start,
    stop,
    publish: async (mark) => {
      await boss.send(queue, { body: sampleBody(0).replace("mark-00000000", mark) })
      return nowMillis()
    },
    close: async () => {
      await boss.stop({ graceful: true, timeout: 5000 })
      await poster.close()
    }
  }
}
