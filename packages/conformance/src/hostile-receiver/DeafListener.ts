/** A port that listens and never accepts a connection: connecting to it hangs, as behind a firewall that drops packets. */
import { connect, type Socket } from "node:net"
import { Worker } from "node:worker_threads"

export interface DeafListener {
  readonly port: number
  readonly stop: () => Promise<void>
}

/** Listens, reports its port, and then blocks its event loop until it is stopped. */
const script = `
const { createServer } = require("node:net")
const { parentPort, workerData } = require("node:worker_threads")
const server = createServer().listen({ port: 0, host: workerData.host, backlog: 1 }, () => {
  parentPort.postMessage(server.address().port)
  Atomics.wait(workerData.ended, 0, 0)
  server.close()
  parentPort.close()
})
server.on("connection", (socket) => socket.destroy())`

/** More connections than the kernel's accept queue holds. */
const fillers = 8

/** Linux lets further connections wait; other systems may refuse them. */
export const startDeafListener = async (host: string): Promise<DeafListener> => {
  const ended = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(script, { eval: true, workerData: { host, ended } })
  const port = await new Promise<number>((resolve, reject) => worker.once("message", resolve).once("error", reject))
  const sockets: Array<Socket> = []
  await new Promise<void>((first) => {
    for (let n = 0; n < fillers; n++) sockets.push(connect({ host, port }, () => first()).on("error", () => {}))
  })
  return {
    port,
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      const gone = new Promise<void>((done) => worker.once("exit", () => done()))
      Atomics.store(ended, 0, 1)
      Atomics.notify(ended, 0)
      await gone
    }
  }
}
