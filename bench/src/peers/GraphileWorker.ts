/** graphile-worker, with the settings its documentation gives for high throughput, or for low latency. */
import { Logger, makeWorkerUtils, run, type Runner, runMigrations, type TaskList } from "graphile-worker"
import pg from "pg"
import { sampleBody } from "../waybill/SampleEvent.ts"
import { type Contender, type ContenderOptions, countdown, nowMillis } from "./Contender.ts"
import { makePoster } from "./SignedPost.ts"

const quiet = new Logger(() => () => undefined)

const presets = {
  throughput: {
    concurrentJobs: 200,
    maxPoolSize: 10,
    pollInterval: 100,
    localQueue: { size: 2000 },
    completeJobBatchDelay: 10,
    failJobBatchDelay: 10
  },
  latency: { concurrentJobs: 24, maxPoolSize: 26, pollInterval: 1000 }
}

export const makeGraphileWorker = async (options: ContenderOptions): Promise<Contender> => {
  const poster = makePoster(options.receiver, { connections: 64, sign: true })
  const pool = new pg.Pool({ connectionString: options.database, max: 10 })
  const complain = (error: Error) => console.error(error)
  pool.on("error", complain).on("connect", (client) => client.on("error", complain))
  const preset = { worker: { connectionString: options.database, logger: quiet, preparedStatements: true, ...presets[options.tuned] } }
  await runMigrations({ preset: { worker: { connectionString: options.database, logger: quiet } } })
  const utils = await makeWorkerUtils({ pgPool: pool, logger: quiet })

  let tick = () => {}
  let runner: Runner | undefined
  const taskList: TaskList = {
    deliver: async (payload, helpers) => {
      await poster.post(helpers.job.id, (payload as { readonly body: string }).body)
      tick()
    }
  }
  const start = async () => {
    runner = await run({ preset, taskList, noHandleSignals: true })
  }
  const stop = async () => {
    await runner?.stop()
    runner = undefined
  }
  return {
    fill: async (count) => {
      for (let done = 0; done < count; done += 1000) {
        const size = Math.min(1000, count - done)
        await utils.addJobs(Array.from({ length: size }, (_, n) => ({ identifier: "deliver", payload: { body: sampleBody(done + n) } })))
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
      await utils.addJob("deliver", { body: sampleBody(0).replace("mark-00000000", mark) })
      return nowMillis()
    },
    close: async () => {
      await utils.release()
      await pool.end()
      await poster.close()
    }
  }
}
