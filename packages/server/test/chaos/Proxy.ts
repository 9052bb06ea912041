/** A proxy between two processes whose connections can be cut, delayed, or left half open. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net"

/** `whole`: nothing passes any more. `answers`: only responses are blocked. */
export type HalfOpen = "whole" | "answers"

export class Wire {
  readonly near: Socket
  readonly far: Socket
  /** The port of the client. */
  readonly nearPort: number
  halfOpen: HalfOpen | undefined
  delayMillis = 0
  /** Earliest time for the next delayed data, in each direction. */
  private lastForward = 0
  private lastBack = 0

  constructor(near: Socket, far: Socket) {
    this.near = near
    this.far = far
    this.nearPort = near.remotePort ?? 0
    this.join(near, far, false)
    this.join(far, near, true)
  }

  private join(from: Socket, to: Socket, isAnswer: boolean): void {
    from.on("error", () => {})
    from.on("data", (chunk: Buffer) => {
      if (this.swallows(isAnswer)) return
      this.later(isAnswer, () => {
        if (this.swallows(isAnswer) || to.destroyed) return
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

  private swallows(isAnswer: boolean): boolean {
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
    this.near.resetAndDestroy()
    this.far.resetAndDestroy()
  }

  destroy(): void {
    this.near.destroy()
    this.far.destroy()
  }
}

export class Proxy {
  readonly wires = new Set<Wire>()
  /** Connections by their local port at the target. */
  readonly byFarPort = new Map<number, Wire>()
  private readonly server: Server
  private readonly target: () => { readonly host: string; readonly port: number } | undefined

  private constructor(target: () => { readonly host: string; readonly port: number } | undefined) {
    this.target = target
    this.server = createServer((near) => {
      const to = this.target()
      near.on("error", () => {})
      if (to === undefined) return void near.resetAndDestroy()
      near.setNoDelay(true)
      const far = connect({ ...to, noDelay: true })
      const wire = new Wire(near, far)
      this.wires.add(wire)
      let farPort: number | undefined
      far.once("connect", () => {
        farPort = far.localPort
        if (farPort !== undefined) this.byFarPort.set(farPort, wire)
      })
      const gone = () => {
        if (!near.destroyed || !far.destroyed) return
        this.wires.delete(wire)
        if (farPort !== undefined && this.byFarPort.get(farPort) === wire) this.byFarPort.delete(farPort)
      }
      near.once("close", gone)
      far.once("close", gone)
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
    for (const wire of this.wires) wire.destroy()
    await closed
  }
}
