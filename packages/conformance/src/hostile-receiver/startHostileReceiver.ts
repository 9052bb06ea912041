/** A hostile receiver on loopback, with a separate address for each behaviour. */
import { createServer } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import { bodyBehaviours, framingBehaviours } from "./bodyBehaviours.ts"
import { connectionBehaviours } from "./connectionBehaviours.ts"
import { headBehaviours } from "./headBehaviours.ts"
import { type HostileName, hostileNames, type HostileUrl, hostileUrls, internalAddress } from "./hostileAddresses.ts"
import type { HostileBehaviour, HostileGroup, HostileRequest, HostileScript, HostileScripts } from "./HostileBehaviour.ts"
import { host, type HostileListener, listen, startHostileListener } from "./HostileListener.ts"
import { answer } from "./RawAnswers.ts"
import { reuseBehaviours } from "./reuseBehaviours.ts"
import { headersBehaviours, interimBehaviours, statusBehaviours } from "./statusBehaviours.ts"
import { hostileHost, makeTestCertificates } from "./TestCertificates.ts"
import { tlsBehaviours } from "./tlsBehaviours.ts"

const groups = {
  connection: connectionBehaviours,
  head: headBehaviours,
  framing: framingBehaviours,
  body: bodyBehaviours,
  interim: interimBehaviours,
  status: statusBehaviours,
  headers: headersBehaviours,
  reuse: reuseBehaviours,
  tls: tlsBehaviours
} satisfies Record<HostileGroup, HostileScripts>

type Groups = typeof groups

/** The name of a behaviour, such as `slow-head`. */
export type HostileBehaviourName = { [Group in HostileGroup]: keyof Groups[Group] }[HostileGroup] & string

const scripts: ReadonlyMap<string, HostileScript> = new Map(Object.values<HostileScripts>(groups).flatMap((of) => Object.entries(of)))

/** Every behaviour, as data. */
export const hostileBehaviours: ReadonlyArray<HostileBehaviour & { readonly name: HostileBehaviourName }> = Object.entries<HostileScripts>(groups)
  .flatMap(([group, of]) =>
    Object.entries(of).map(([name, { does, ends, must, next, outcome, unsent }]) => ({
      name: name as HostileBehaviourName,
      group: group as HostileGroup,
      does,
      must,
      outcome,
      ends,
      ...(next === undefined ? undefined : { next }),
      ...(unsent === undefined ? undefined : { unsent })
    }))
  )

/** Which behaviours to start. */
export interface HostileReceiverOptions {
  /** The behaviours to start, each with a port. All by default. */
  readonly behaviours?: ReadonlyArray<HostileBehaviourName>
}

/** A running receiver with one address for each behaviour. Close it after the test. */
export interface HostileReceiver {
  /** The address of a behaviour: `http://127.0.0.1:<port>/<name>`, or `https`, for which the sender trusts `ca`. */
  readonly url: (name: HostileBehaviourName) => string
  /** The requests that the behaviour has read, in order. */
  readonly requests: (name: HostileBehaviourName) => ReadonlyArray<HostileRequest>
  /** Connections to the behaviour in total, and open ones. */
  readonly connections: (name: HostileBehaviourName) => { readonly all: number; readonly open: number }
  /** The CA of its good certificates, in PEM. */
  readonly ca: string
  /** An internal listener that no sender may connect to. Some behaviours point to it. */
  readonly inside: { readonly url: string; readonly connections: () => number }
  /** URLs that a sender without exceptions refuses. Most of them lead to internal addresses. */
  readonly urls: ReadonlyArray<HostileUrl>
  /** Names with changing or mixed addresses, for a sender that may reach only 127.0.0.1. */
  readonly names: ReadonlyArray<HostileName>
  /** The URL of such a name when it resolves to an allowed address. It answers 200. */
  readonly nameUrl: (name: HostileName) => string
  /** The resolver of these names. It records its queries; other names do not exist. */
  readonly resolver: () => HostileResolver
  /** Ends every connection and frees every port. */
  readonly stop: () => Promise<void>
}

/** A name resolver for senders that take one; it records what was asked. */
export interface HostileResolver {
  readonly resolve: (hostname: string) => Promise<ReadonlyArray<string>>
  readonly asked: ReadonlyArray<string>
}

/** Starts receivers on 127.0.0.1 that misbehave. Rejects with `RangeError` for an unknown behaviour. */
export const startHostileReceiver = async (options: HostileReceiverOptions = {}): Promise<HostileReceiver> => {
  const names = options.behaviours ?? hostileBehaviours.map(({ name }) => name)
  const unknown = names.filter((name) => !scripts.has(name))
  if (unknown.length > 0) throw new RangeError(`There is no hostile behaviour "${unknown.join("\", \"")}". hostileBehaviours lists them.`)
  const certificates = makeTestCertificates()
  const inside = await listen(createServer((socket) => socket.destroy()))
  const insideUrl = `http://${host}:${inside.port}/inside`
  // one connection for each request, so that each resolves the name
  const outside = await listen(createTlsServer(certificates.good, (socket) => socket.on("error", () => {}).on("data", () => socket.end(answer("200 OK", ["connection: close"])))))
  const internalListener = await listenInternal(outside.port)
  const listeners = new Map<string, HostileListener>()
  const stop = async () => void await Promise.all([inside, outside, internalListener, ...listeners.values()].map((each) => each.stop()))
  const starting = await Promise.allSettled(names.map(async (name) => {
    listeners.set(name, await startHostileListener(scripts.get(name)!, { certificates, inside: insideUrl }))
  }))
  const failed = starting.find(({ status }) => status === "rejected") as PromiseRejectedResult | undefined
  if (failed !== undefined) {
    await stop()
    throw failed.reason
  }
  const listenerOf = (name: string): HostileListener => {
    const listener = listeners.get(name)
    if (listener === undefined) throw new RangeError(`"${name}" was not started. Name it in { behaviours }, or start all.`)
    return listener
  }
  return {
    url: (name) => `${scripts.get(name)?.tls === undefined ? "http" : "https"}://${host}:${listenerOf(name).port}/${name}`,
    requests: (name) => listenerOf(name).requests,
    connections: (name) => listenerOf(name).connections(),
    ca: certificates.authority.cert,
    inside: { url: insideUrl, connections: () => inside.connections().all + internalListener.connections().all },
    urls: hostileUrls(inside.port),
    names: hostileNames,
    nameUrl: ({ name }) => `https://${name}.${hostileHost}:${outside.port}/`,
    resolver: makeResolver,
    stop
  }
}

/** Only Linux has all of 127/8 on its loopback. Elsewhere the address is unreachable, so connections need not be counted. */
const listenInternal = (port: number) =>
  listen(createServer((socket) => socket.destroy()), { address: internalAddress, port }).catch((error: Error & { readonly code?: string }) => {
    if (error.code === "EADDRNOTAVAIL") return { port, connections: () => ({ all: 0, open: 0 }), stop: async () => {} }
    throw error
  })

const makeResolver = (): HostileResolver => {
  const asked: Array<string> = []
  const resolve = async (hostname: string): Promise<ReadonlyArray<string>> => {
    const before = asked.filter((name) => name === hostname).length
    asked.push(hostname)
    const answers = hostileNames.find(({ name }) => `${name}.${hostileHost}` === hostname)?.addresses ?? ["none"]
    const answered = answers[Math.min(before, answers.length - 1)]!
    if (answered === "silence") return new Promise(() => {})
    if (answered === "none") throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${hostname}`), { code: "ENOTFOUND" })
    return answered
  }
  return { resolve, asked }
}
