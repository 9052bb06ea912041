/** Checks that run against every mount, in any framework. */
import { documentsSample, fileSample } from "@waybill/testkit"
import { once } from "node:events"
import { type IncomingMessage, request } from "node:http"
import { connect } from "node:net"
import { gzipSync } from "node:zlib"
import { expect } from "vitest"
import type { HandlerOptions, HostOperator, HostPrincipal, Waybill, WaybillOptions } from "../../src/index.ts"
import { startWithTenant } from "../facade/Host.ts"
import { expectOwnDocuments } from "./Documents.ts"
import { reportedEvent } from "../TestService.ts"

export type User = HostPrincipal | HostOperator

export const users: Readonly<Record<string, User>> = {
  carrier: { tenantId: "acme", client: "tms", roles: ["carrier"], dot: "1234567", mc: "765432" },
  shopA: { tenantId: "acme", client: "a", roles: ["customer"], accounts: ["A"] },
  shopB: { tenantId: "acme", client: "b", roles: ["customer"], accounts: ["B"] },
  operator: { client: "root", roles: ["operator"] }
}

type MountOptions = Pick<WaybillOptions, "publicBaseUrl" | "securitySchemes" | "trustForwarded">

/** A service whose `authenticate` reads the framework's request with `userOf`. */
export const startWaybill = async (userOf: (host: any) => User | undefined, options: MountOptions = {}): Promise<Waybill> => {
  const waybill = await startWithTenant({ ...options, authenticate: async (_request, host) => userOf(host) })
  await waybill.secrets.put("acme", "main", { anyClient: true })
  return waybill
}

const bearer = (user: string) => ({ authorization: `Bearer ${user}` })

export const userNamed = (authorization: string | null | undefined): User | undefined => users[authorization?.replace("Bearer ", "") ?? ""]

export const publish = (mount: string, eventId: string, account = "A") =>
  fetch(`${mount}/intake/v1/transit-events`, {
    method: "POST",
    headers: { ...bearer("carrier"), "content-type": "application/json" },
    body: JSON.stringify({ events: [reportedEvent(`S-${account}`, { eventId, accounts: [account] })] })
  })

/** Compressed, for a host that decompresses bodies itself; in chunks without a Content-Length. */
export const publishCompressed = (mount: string, { inChunks = false } = {}) => {
  const bytes = gzipSync(JSON.stringify({ events: [reportedEvent("S-gzip", { eventId: "e-gzip", accounts: ["A"] })] }))
  return fetch(`${mount}/intake/v1/transit-events`, {
    method: "POST",
    headers: { ...bearer("carrier"), "content-type": "application/json", "content-encoding": "gzip" },
    body: inChunks ? new Blob([bytes]).stream() : bytes,
    duplex: "half"
  } as RequestInit)
}

/** The target and the headers as written, which `fetch` would change. */
const statusOfTarget = async (mount: string, target: string, ...headers: ReadonlyArray<string>): Promise<number> => {
  const socket = connect(Number(new URL(mount).port), "127.0.0.1")
  socket.end([`GET ${target} HTTP/1.1`, ...headers, "connection: close", "", ""].join("\r\n"))
  let text = ""
  for await (const chunk of socket) text += String(chunk)
  return Number(text.split(" ")[1])
}

const statusOf = (mount: string, path: string, ...headers: ReadonlyArray<string>) =>
  statusOfTarget(mount, `${new URL(mount).pathname.replace(/\/$/, "")}${path}`, ...headers)

/** Node keeps the first of two Host headers and ignores the other. */
const statusOfTwoHosts = (mount: string) => statusOf(mount, "/in-transit/v1/shipment/pro/1/public", "host: a.example", "host: b.example")

/** For a host whose guard answers 403 to every path below `/operator`: no other spelling of such a path reaches the operator's calls. */
export const expectGuarded = async (mount: string): Promise<void> => {
  const answers = async (...paths: ReadonlyArray<string>) => new Set(await Promise.all(paths.map((path) => statusOf(mount, path, "host: x", "authorization: Bearer operator"))))
  expect(await answers("/operator/v1/health")).toEqual(new Set([403]))
  expect(await answers("/x/../operator/v1/health", "/./operator/v1/health", "/%2E/operator/v1/health", "/x/.%2e/operator/v1/health", "/x\\..\\operator/v1/health", "/\\operator/v1/health"))
    .toEqual(new Set([404]))
}

/** Responses keep the prefix, and every method and status passes. A parser in front refuses invalid JSON itself. */
export const expectService = async (mount: string, { behindParser = false } = {}): Promise<void> => {
  for (const account of ["A", "B"]) {
    const published = await publish(mount, `e-${account}`, account)
    expect([published.status, await published.json()]).toMatchObject([200, { results: [{ result: "accepted" }] }])
  }
  const listed = await fetch(`${mount}/visibility/v1/events?pageSize=1`, { headers: bearer("carrier") })
  expect(listed.headers.get("link")).toContain(`<${mount}/visibility/v1/events?`)
  expect(listed.headers.get("x-request-id")).not.toBeNull()
  const head = await fetch(`${mount}/visibility/v1/events`, { method: "HEAD", headers: bearer("carrier") })
  expect([head.status, await head.text()]).toEqual([200, ""])
  const created = await fetch(`${mount}/visibility/v1/subscriptions`, {
    method: "POST",
    headers: { ...bearer("shopA"), "content-type": "application/json" },
    body: JSON.stringify({ endpointUrl: "https://receiver.example/hook", hmacSecretId: "main" })
  })
  const location = created.headers.get("location")!
  expect(location.startsWith(`${mount}/visibility/v1/subscriptions/`)).toBe(true)
  const patched = await fetch(location, {
    method: "PATCH",
    headers: { ...bearer("shopA"), "content-type": "application/merge-patch+json" },
    body: JSON.stringify({ status: "paused" })
  })
  expect([patched.status, await patched.json()]).toMatchObject([200, { status: "paused" }])
  const removed = await fetch(location, { method: "DELETE", headers: bearer("shopA") })
  expect([removed.status, await removed.text()]).toEqual([204, ""])
  const nowhere = await fetch(`${mount}/nowhere`)
  expect([nowhere.status, nowhere.headers.get("content-type")]).toEqual([404, "application/problem+json"])
  expect(await statusOfTwoHosts(mount)).toBe(400)
  const allowed = await fetch(`${mount}/visibility/v1/events`, { method: "OPTIONS" })
  expect([allowed.status, allowed.headers.get("allow")]).toEqual([204, expect.stringContaining("GET")])
  const text = await fetch(`${mount}/intake/v1/transit-events`, { method: "POST", headers: { ...bearer("carrier"), "content-type": "text/plain" }, body: "x" })
  expect([text.status, await text.json()]).toMatchObject([415, { code: "unsupported_media_type" }])
  if (behindParser) return
  const { host, pathname } = new URL(mount)
  expect(await statusOfTarget(mount, `http://${host}${pathname.replace(/\/$/, "")}/healthz`, `host: ${host}`)).toBe(200)
  const broken = await fetch(`${mount}/intake/v1/transit-events`, { method: "POST", headers: { ...bearer("carrier"), "content-type": "application/json" }, body: "{" })
  expect([broken.status, await broken.json()]).toMatchObject([400, { code: "invalid_json" }])
}

/** Concurrent requests of different callers, each with its own data. */
const expectIsolatedCallers = async (mount: string): Promise<void> => {
  const seen = await Promise.all(Array.from({ length: 60 }, async (_, at) => {
    const user = ["shopA", "shopB", "nobody"][at % 3]!
    const answer = await fetch(`${mount}/visibility/v1/events`, { headers: bearer(user) })
    if (answer.status !== 200) return `${user} ${answer.status}`
    const { data } = await answer.json() as { readonly data: ReadonlyArray<{ readonly shipment: { readonly shipmentId: string } }> }
    return `${user} ${data.map(({ shipment }) => shipment.shipmentId).join()}`
  }))
  expect([...new Set(seen)].sort()).toEqual(["nobody 401", "shopA S-A", "shopB S-B"])
}

/** Uploads several hundred kilobytes without a Content-Length, and reads as much. */
export const upload = (mount: string, photo: Uint8Array) => {
  const json = JSON.stringify(documentsSample({ accounts: ["A"], documents: [{ documentType: "POD", files: [Buffer.from(photo).toString("base64")] }] }))
  let at = 0
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (at < json.length) controller.enqueue(new TextEncoder().encode(json.slice(at, at += 50_000)))
      else controller.close()
    }
  })
  return fetch(`${mount}/invoicing/documents`, {
    method: "POST",
    headers: { ...bearer("carrier"), "content-type": "application/json" },
    body,
    duplex: "half"
  } as RequestInit)
}

export const expectDocuments = async (mount: string): Promise<void> => {
  const photo = fileSample("JPEG", 400_000)
  const uploaded = await upload(mount, photo)
  expect([uploaded.status, await uploaded.text()]).toEqual([expect.toBeOneOf([200, 201]), expect.any(String)])
  const answer = await fetch(`${mount}/invoicing/documents/4711`, { headers: bearer("shopA") })
  const text = await answer.text()
  expect(Number(answer.headers.get("content-length"))).toBe(text.length)
  const [{ files: [file] }] = JSON.parse(text).documents
  expect(Buffer.from(file.content, "base64").equals(photo)).toBe(true)
}

/** All of it, for one mount. */
export const expectMounted = async (mount: string): Promise<void> => {
  await expectService(mount)
  await expectIsolatedCallers(mount)
  await expectDocuments(mount)
  await expectOwnDocuments(mount)
}

/** A service that records its requests. */
export const remembering = () => {
  const reached: Array<HandlerOptions & { readonly request: Request }> = []
  return {
    reached,
    handler: async (request: Request, options: HandlerOptions = {}) => {
      reached.push({ ...options, request })
      return new Response("told")
    }
  }
}

/** A service whose first response never arrives, and whose second breaks off. */
export const failingService = () => {
  let heard: (signal: AbortSignal) => void = () => {}
  const asked = new Promise<AbortSignal>((resolve) => heard = resolve)
  return {
    asked,
    handler: async (request: Request) => {
      if (request.url.endsWith("/hang")) {
        heard(request.signal)
        return new Promise<Response>(() => {})
      }
      let at = 0
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => at++ < 3 ? controller.enqueue(new Uint8Array(10_000)) : controller.error(new Error("the storage is gone"))
      })
      return new Response(body, { headers: { "content-length": "100000", "content-type": "application/json" } })
    }
  }
}

export const expectAborts = async (mount: string, { asked }: ReturnType<typeof failingService>): Promise<void> => {
  const { hostname, pathname, port } = new URL(mount)
  const socket = connect(Number(port), hostname)
  socket.write(`GET ${pathname}/hang HTTP/1.1\r\nhost: x\r\n\r\n`)
  const signal = await asked
  socket.destroy()
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve))
  await expect(fetch(`${mount}/break`).then((answer) => answer.text())).rejects.toThrow()
}

/** A service that echoes each chunk as it arrives. */
export const echo = () => ({
  handler: async (request: Request) => {
    const pieces = request.body!.getReader()
    const first = await pieces.read()
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(first.value!),
      pull: async (controller) => {
        const { done, value } = await pieces.read()
        if (done) controller.close()
        else controller.enqueue(value)
      }
    }, { highWaterMark: 0 })
    return new Response(body, { headers: { "content-type": "application/json" } })
  }
})

/** Sends each chunk only after the previous one was echoed: fails if a body is buffered as a whole. */
export const expectStreams = async (mount: string): Promise<void> => {
  const { hostname, pathname, port } = new URL(mount)
  const call = request({ hostname, port, path: `${pathname}/echo`, method: "POST", headers: { "content-type": "application/json" } })
  const answered = once(call, "response") as Promise<[IncomingMessage]>
  call.write("0")
  const [answer] = await answered
  let echoed = ""
  for await (const piece of answer.setEncoding("utf8")) {
    echoed += piece
    if (echoed.length < 4) call.write(String(echoed.length))
    else call.end()
  }
  expect(echoed).toBe("0123")
}
