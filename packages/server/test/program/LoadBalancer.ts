/** A small load balancer: it polls `/readyz` of each process, and forwards requests to those that are ready, over kept connections. */
import { Agent, request as send, type IncomingMessage } from "node:http"
import { setTimeout as delay } from "node:timers/promises"
import { onTestFinished } from "vitest"
import { listening, urlOf } from "./Program.ts"

const intervalMillis = 100

export interface LoadBalancer {
  readonly url: string
  /** Resolves when the process has been found ready. */
  readonly add: (processUrl: string) => Promise<void>
  /** Requests without a response: one line each. */
  readonly refused: ReadonlyArray<string>
}

export const loadBalancer = async (): Promise<LoadBalancer> => {
  const agent = new Agent({ keepAlive: true })
  const refused: Array<string> = []
  const ready: Array<string> = []
  let turns = 0
  let ended = false
  onTestFinished(() => {
    ended = true
    agent.destroy()
  })

  const server = await listening(async (request, response) => {
    const chunks: Array<Buffer> = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const target = ready[turns++ % Math.max(ready.length, 1)]
    const refuse = (why: string) => {
      refused.push(`${request.method} ${request.url} at ${target ?? "no ready process"}: ${why}`)
      response.writeHead(502).end()
    }
    if (target === undefined) return refuse("none is ready")
    const { connection: _, ...headers } = request.headers
    const forwarded = send(`${target}${request.url}`, { method: request.method!, headers, agent }, (answer: IncomingMessage) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    forwarded.on("error", (error) => refuse(error.message))
    forwarded.end(Buffer.concat(chunks))
  })

  // a caller that comes late on a busy machine would find its connection closed
  server.keepAliveTimeout = 600_000

  const isReady = async (processUrl: string): Promise<boolean> =>
    fetch(`${processUrl}/readyz`, { headers: { connection: "close" } }).then(({ ok }) => ok, () => false)

  const watch = async (processUrl: string): Promise<void> => {
    while (!ended) {
      const place = ready.indexOf(processUrl)
      const now = await isReady(processUrl)
      if (now && place < 0) ready.push(processUrl)
      if (!now && place >= 0) ready.splice(place, 1)
      await delay(intervalMillis)
    }
  }

  return {
    url: urlOf(server),
    refused,
    add: async (processUrl) => {
      void watch(processUrl)
      while (!ready.includes(processUrl)) await delay(intervalMillis)
    }
  }
}
