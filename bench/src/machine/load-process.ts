/** A load generator that sends requests as fast as they are answered, over plain sockets to keep its own cost low. */
import { connect } from "node:net"
import { serve } from "./Child.ts"

export interface Load {
  readonly port: number
  /** One path for each number from 0; `#` is replaced by 100000000 plus a random number below `spread`. */
  readonly path: string
  /** The body of POST requests, with each `#` replaced by a unique value; without it requests are GETs. */
  readonly body?: string
  readonly spread: number
  readonly headers: Readonly<Record<string, string>>
  readonly connections: number
  readonly millis: number
  readonly expected: number
}

let calls = 0

const end = Buffer.from("\r\n\r\n")

/** Sends requests one after the other on one connection; returns the number of responses. */
const run = (load: Load, until: number, latencies: Array<number>): Promise<number> =>
  new Promise((resolve, reject) => {
    const head = Object.entries(load.headers).map(([name, value]) => `${name}: ${value}\r\n`).join("")
    const socket = connect({ port: load.port, host: "127.0.0.1", noDelay: true })
    let answers = 0
    let sentAt = 0
    let received: Buffer = Buffer.alloc(0)
    const ask = () => {
      sentAt = performance.now()
      if (load.body !== undefined) {
        const body = load.body.replaceAll("#", `${process.pid}-${Date.now().toString(36)}-${calls++}`)
        socket.write(`POST ${load.path} HTTP/1.1\r\nhost: bench\r\n${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
        return
      }
      const number = 100_000_000 + Math.floor(Math.random() * load.spread)
      socket.write(`GET ${load.path.replace("#", String(number))} HTTP/1.1\r\nhost: bench\r\n${head}\r\n`)
    }
    socket.on("connect", ask)
    socket.on("error", reject)
    socket.on("data", (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const headEnd = received.indexOf(end)
      if (headEnd < 0) return
      const text = received.toString("latin1", 0, headEnd)
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1])
      if (received.length < headEnd + 4 + length) return
      const status = Number(text.slice(9, 12))
      if (status !== load.expected) {
        socket.destroy()
        reject(new Error(`${load.path} answered ${status}: ${received.toString("utf8", headEnd + 4)}`))
        return
      }
      received = Buffer.alloc(0)
      answers += 1
      const now = performance.now()
      latencies.push(now - sentAt)
      if (now < until) ask()
      else {
        socket.destroy()
        resolve(answers)
      }
    })
  })

const handlers = {
  /** Responses, per second too, and the p99 latency. */
  run: async (load: Load) => {
    const latencies: Array<number> = []
    const begin = performance.now()
    const counts = await Promise.all(Array.from({ length: load.connections }, () => run(load, begin + load.millis, latencies)))
    const seconds = (performance.now() - begin) / 1000
    latencies.sort((a, b) => a - b)
    const answers = counts.reduce((sum, each) => sum + each, 0)
    return { answers, perSecond: answers / seconds, p99: latencies[Math.floor(latencies.length * 0.99)] ?? 0 }
  }
}

export type LoadHandlers = typeof handlers

serve(handlers)
