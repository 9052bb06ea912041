import { afterEach, describe, expect, it, vi } from "vitest"
import { connect } from "node:net"
import { request as httpsRequest } from "node:https"
import {
  type HostileBehaviourName,
  hostileBehaviours,
  type HostileReceiver,
  type HostileReceiverOptions,
  makeCertificate,
  startHostileReceiver
} from "../../src/hostile.ts"

vi.setConfig({ testTimeout: 30_000 })

const started: Array<HostileReceiver> = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.stop()))
})

const start = async (options?: HostileReceiverOptions): Promise<HostileReceiver> => {
  const hostile = await startHostileReceiver(options)
  started.push(hostile)
  return hostile
}

/** The response bytes until the receiver closes or a limit is reached. */
const raw = (url: string, isEnough: (text: string) => boolean = () => false): Promise<string> =>
  new Promise((resolve) => {
    const { host, hostname, pathname, port } = new URL(url)
    let text = ""
    const socket = connect({ host: hostname, port: Number(port) })
    socket.write(`POST ${pathname} HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 2\r\n\r\n{}`)
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      text += chunk
      if (isEnough(text)) socket.destroy()
    })
    socket.on("error", () => {})
    socket.on("close", () => resolve(text))
  })

const something = (text: string) => text !== ""

/** A careless sender: follows redirects, decodes bodies and accepts every certificate. */
const naive = (url: string) => fetch(url, { method: "POST", body: "{}", headers: { authorization: "secret" } })

const credulous = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const request = httpsRequest(url, { method: "POST", rejectUnauthorized: false, ciphers: "ALL:@SECLEVEL=0", minVersion: "TLSv1", agent: false }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode!))
    })
    request.on("error", reject).end("{}")
  })

describe("hostileBehaviours", () => {
  it("have unique names, a description and a requirement", () => {
    expect(new Set(hostileBehaviours.map(({ name }) => name)).size).toBe(hostileBehaviours.length)
    for (const { does, must, name } of hostileBehaviours) {
      expect(name).toMatch(/^[a-z0-9.-]+$/)
      for (const sentence of [does, must]) expect(sentence).toMatch(/^[A-Z].*\.$/s)
    }
  })

  it("are plain data that can be listed and stored", () => expect(JSON.parse(JSON.stringify(hostileBehaviours))).toEqual(hostileBehaviours))
})

describe("startHostileReceiver", () => {
  it("starts the named behaviours, and rejects unknown names", async () => {
    const hostile = await start({ behaviours: ["cookie"] })
    expect(hostile.url("cookie")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/cookie$/)
    expect(() => hostile.url("slow-head")).toThrow(`"slow-head" was not started.`)
    await expect(startHostileReceiver({ behaviours: ["nonsense" as HostileBehaviourName] })).rejects.toThrow("There is no hostile behaviour \"nonsense\".")
  })

  it("records the requests", async () => {
    const hostile = await start({ behaviours: ["closes-and-goes-on", "refuses-before-body", "says-nothing"] })
    await raw(hostile.url("closes-and-goes-on"), something)
    expect(hostile.requests("closes-and-goes-on")).toEqual([{ head: expect.stringMatching(/^POST \/closes-and-goes-on HTTP\/1.1\r\nhost: 127/), body: Buffer.from("{}") }])
    expect(hostile.connections("closes-and-goes-on").all).toBe(1)
    expect(hostile.requests("says-nothing")).toEqual([])
  })

  it("sends endless responses for the endless behaviours", async () => {
    const hostile = await start()
    for (const { name } of hostileBehaviours.filter(({ name }) => name.startsWith("endless-"))) {
      expect((await raw(hostile.url(name), ({ length }) => length >= 2 ** 20)).length, name).toBeGreaterThanOrEqual(2 ** 20)
    }
  })

  it("sends extra bytes for the surplus behaviours", async () => {
    const hostile = await start({ behaviours: ["second-answer", "hundred-answers", "long-body"] })
    for (const [name, answers] of [["second-answer", 2], ["hundred-answers", 101]] as const) {
      const count = (text: string) => text.split("HTTP/1.1 200 OK\r\n").length - 1
      expect(count(await raw(hostile.url(name), (text) => count(text) >= answers))).toBe(answers)
    }
    expect(await raw(hostile.url("long-body"), (text) => text.endsWith("9"))).toMatch(/content-length: 4\r\n\r\n0123456789$/)
  })

  it("frees its ports and connections when it stops", async () => {
    const sockets = () => process.getActiveResourcesInfo().filter((name) => /TCP|TLS|MessagePort|Worker/.test(name)).length
    const before = sockets()
    const hostile = await startHostileReceiver()
    const held = connect(Number(new URL(hostile.url("slow-head")).port), "127.0.0.1").on("error", () => {})
    await new Promise((done) => held.once("connect", done))
    const gone = new Promise((done) => held.once("close", done))
    const urls = hostileBehaviours.map(({ name }) => hostile.url(name))
    await hostile.stop()
    held.resume()
    await gone
    for (const url of urls) {
      const error = await new Promise<unknown>((done) => {
        connect(Number(new URL(url).port), "127.0.0.1", () => done("connected")).on("error", done)
      })
      expect(error, url).toHaveProperty("code", "ECONNREFUSED")
    }
    while (sockets() > before) await new Promise((done) => setImmediate(done))
  })

  it.runIf(process.platform === "linux")("accepts no connection if the behaviour is deaf", async () => {
    const hostile = await start({ behaviours: ["never-accepts"] })
    const socket = connect(Number(new URL(hostile.url("never-accepts")).port), "127.0.0.1").on("error", () => {})
    const connected = new Promise((done) => socket.once("connect", () => done(true)))
    // a connection to another receiver is established long before this one would be
    const other = await start({ behaviours: ["cookie"] })
    await raw(other.url("cookie"), something)
    expect(await Promise.race([connected, Promise.resolve(false)])).toBe(false)
    socket.destroy()
  })
})

describe("a naive sender", () => {
  it("follows a redirect to an internal address", async () => {
    const hostile = await start({ behaviours: ["redirect-302", "redirect-307"] })
    for (const [name, seen] of [["redirect-302", 1], ["redirect-307", 2]] as const) {
      await expect(naive(hostile.url(name))).rejects.toThrow()
      expect(hostile.inside.connections()).toBe(seen)
    }
  })

  it("unpacks 64 MiB", async () => {
    const hostile = await start({ behaviours: ["gzip-bomb", "deflate-bomb", "brotli-bomb"] })
    for (const name of ["gzip-bomb", "deflate-bomb", "brotli-bomb"] as const) {
      expect((await (await naive(hostile.url(name))).arrayBuffer()).byteLength, name).toBe(64 * 1024 * 1024)
    }
  })

  it("accepts every certificate and every TLS version", async () => {
    const hostile = await start()
    for (const name of ["tls-expired", "tls-not-yet", "tls-self-signed", "tls-unknown-authority", "tls-false-authority", "tls-other-host", "tls-1.0", "tls-1.1"] as const) {
      expect(await credulous(hostile.url(name)), name).toBe(200)
      expect(hostile.requests(name), name).toHaveLength(1)
    }
  })

  it("resolves a name twice and connects to an internal address", async () => {
    const hostile = await start({ behaviours: [] })
    const { asked, resolve } = hostile.resolver()
    const rebinding = hostile.names.find(({ name }) => name === "rebinding")!
    const { hostname, port } = new URL(hostile.nameUrl(rebinding))
    const [vetted] = await resolve(hostname)
    const [connected] = await resolve(hostname)
    expect([vetted, connected]).toEqual(["127.0.0.1", "127.0.0.2"])
    if (process.platform === "linux") {
      await new Promise<void>((done) => connect(Number(port), connected!).on("error", () => {}).once("close", () => done()))
      expect(hostile.inside.connections()).toBe(1)
    }
    expect(asked).toEqual([hostname, hostname])
    await expect(resolve("somewhere.example")).rejects.toHaveProperty("code", "ENOTFOUND")
  })
})

describe("makeCertificate", () => {
  it("makes a certificate that is valid for the given hosts", async () => {
    const hostile = await start({ behaviours: ["tls-renegotiates"] })
    const { X509Certificate } = await import("node:crypto")
    const authority = makeCertificate({ name: "Authority" })
    const made = new X509Certificate(makeCertificate({ name: "receiver", hosts: ["a.example", "127.0.0.1"], issuer: authority }).cert)
    expect(made.checkIssued(new X509Certificate(authority.cert))).toBe(true)
    expect(made.checkHost("a.example")).toBe("a.example")
    expect(made.checkIP("127.0.0.1")).toBe("127.0.0.1")
    expect(made.checkHost("b.example")).toBeUndefined()
    expect(new X509Certificate(hostile.ca).ca).toBe(true)
  })
})
