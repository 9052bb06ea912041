/** A proxy between two processes whose connections can be cut, delayed, or left half open. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net"

/** `whole`: both directions are blocked. `answers`: only responses are blocked. */
type HalfOpen = "whole" | "answers"

export class ProxiedConnection {
  readonly client: Socket
  readonly server: Socket
  /** The port of the client. */
  readonly clientPort: number
  halfOpen: HalfOpen | undefined
  delayMillis = 0
  /** Earliest time for the next delayed data, in each direction. */
  private lastForward = 0
  private lastBack = 0

  constructor(client: Socket, server: Socket) {
    this.client = client
    this.server = server
    this.clientPort = client.remotePort ?? 0
    this.join(client, server, false)
    this.join(server, client, true)
  }

  private join(from: Socket, to: Socket, isAnswer: boolean): void {
    from.on("error", () => {})
    from.on("data", (chunk: Buffer) => {
      if (this.dropsData(isAnswer)) return
      this.later(isAnswer, () => {
        if (this.dropsData(isAnswer) || to.destroyed) return
        if (!to.write(chunk)) {
          from.pause()
          to.once("drain", () => from.resume())
        }
      })
    })
    from.on("close", () => {
      // In a half-open connection, one side does not notice that the other is closed.
      if (this.halfOpen === "whole" || (isAnswer && this.halfOpen === "answers")) return
      this.later(isAnswer, () => to.destroySoon())
    })
  }

  private dropsData(isAnswer: boolean): boolean {
    return this.halfOpen === "whole" || (isAnswer && this.halfOpen === "answers")
  }

  /** Keeps the order, even if the delay shrinks. */
  private later(isAnswer: boolean, act: () => void): void {
    const now = performance.now()
    const last = isAnswer ? this.lastBack : this.lastForward
    const at = Math.max(now + this.delayMillis, last)
    if (at <= now) return act()
    if (isAnswer) this.lastBack = at
    else this.lastForward = at
    setTimeout(act, at - now)
  }

  reset(): void {
    this.client.resetAndDestroy()
    this.server.resetAndDestroy()
  }

  destroy(): void {
    this.client.destroy()
    this.server.destroy()
  }
}

export class Proxy {
  readonly connections = new Set<ProxiedConnection>()
  /** Connections by their local port at the target. */
  readonly byServerPort = new Map<number, ProxiedConnection>()
  private readonly server: Server
  private readonly target: () => { readonly host: string; readonly port: number } | undefined

  private constructor(target: () => { readonly host: string; readonly port: number } | undefined) {
    this.target = target
    this.server = createServer((client) => {
      const to = this.target()
      client.on("error", () => {})
      if (to === undefined) return void client.resetAndDestroy()
      client.setNoDelay(true)
      const server = connect({ ...to, noDelay: true })
      const connection = new ProxiedConnection(client, server)
      this.connections.add(connection)
      let serverPort: number | undefined
      server.once("connect", () => {
        serverPort = server.localPort
        if (serverPort !== undefined) this.byServerPort.set(serverPort, connection)
      })
      const gone = () => {
        if (!client.destroyed || !server.destroyed) return
        this.connections.delete(connection)
        if (serverPort !== undefined && this.byServerPort.get(serverPort) === connection) this.byServerPort.delete(serverPort)
      }
      client.once("close", gone)
      server.once("close", gone)
    })
  }

  /** Listens on a port of 127.0.0.1; refuses connections while there is no target. */
  static async open(target: () => { readonly host: string; readonly port: number } | undefined): Promise<Proxy> {
    const proxy = new Proxy(target)
    await new Promise<void>((resolve, reject) => proxy.server.once("error", reject).listen({ port: 0, host: "127.0.0.1", backlog: 1024 }, resolve))
    return proxy
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()))
    for (const connection of this.connections) connection.destroy()
    await closed
  }
}
