/** The published package needs only web standard globals: no Node, no dependency, no effect. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { createContext, runInContext } from "node:vm"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const packageDir = join(dirname(fileURLToPath(import.meta.url)), "..")
const manifest = JSON.parse(readFileSync(join(packageDir, "package.json"), "utf8"))
const tsup = join(dirname(createRequire(import.meta.url).resolve("tsup")), "cli-default.js")

let out = ""
const build = (folder: string, ...args: ReadonlyArray<string>) => {
  execFileSync(process.execPath, [tsup, ...args, "--out-dir", join(out, folder)], { cwd: packageDir, stdio: "pipe" })
  return (readdirSync(join(out, folder), { recursive: true }) as Array<string>).filter((name) => /\.[cm]?js$/.test(name))
    .map((name) => ({ name, code: readFileSync(join(out, folder, name), "utf8") }))
}

/** Every module specifier in the code. */
const importsOf = (code: string) =>
  Array.from(code.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["']([^"']+)["']/g), ([, specifier]) => specifier!)

/** Globals that browsers, Deno, Bun, Workers and Node share; none of Node's own. */
const webGlobals = () => {
  const { AbortController, atob, Blob, btoa, clearTimeout, console, crypto, fetch, Headers, performance, ReadableStream, Request, Response, setTimeout, TextDecoder, TextEncoder, URL, URLSearchParams } = globalThis
  return { AbortController, atob, Blob, btoa, clearTimeout, console, crypto, fetch, Headers, performance, ReadableStream, Request, Response, setTimeout, TextDecoder, TextEncoder, URL, URLSearchParams }
}

describe("The built client", () => {
  beforeAll(() => {
    out = mkdtempSync(join(tmpdir(), "waybill-client-"))
  })
  afterAll(() => rmSync(out, { recursive: true, force: true }))

  it("declares no dependency", () => {
    for (const kind of ["dependencies", "peerDependencies", "optionalDependencies"]) expect(manifest[kind]).toBeUndefined()
  })

  it("imports only its own files", () => {
    const files = build("published", "--config", "../../tsup.config.ts")
    const areas = ["connection", "freight-charges", "intake", "invoices", "operator", "pickups", "portal", "receiver", "shipment-status", "transit-events"]
    for (const entry of ["index.js", ...areas.map((area) => `${area}/index.js`)]) {
      expect(files.map(({ name }) => name.replaceAll("\\", "/"))).toContain(entry)
    }
    const imports = files.flatMap(({ code }) => importsOf(code))
    expect(imports.length).toBeGreaterThan(0)
    for (const specifier of imports) expect(specifier).toMatch(/^\.\.?\//)
    for (const { code } of files) expect(code).not.toMatch(/\bnode:|\bprocess\.|\bBuffer\b/)
    // Checks that `importsOf` finds every form of import.
    expect(importsOf("import a from \"node:fs\"\nimport \"effect\"\nawait import('x')\nrequire(\"y\")")).toEqual(["node:fs", "effect", "x", "y"])
  }, 60_000)

  it("verifies, receives and calls with web standard globals only", async () => {
    const [file] = build("one-file", "src/index.ts", "--no-config", "--format", "iife", "--global-name", "waybill", "--platform", "neutral")
    const context = createContext(webGlobals())
    runInContext(file!.code, context)
    const seen = await runInContext(`(async () => {
      const { DeliveryReceiver, DocumentsClient, FreightChargesClient, InvoicesClient, PickupsClient, SeenInMemory, ShipmentStatusClient, signDelivery, TransitEventsClient, verifyDelivery } = waybill
      const bytes = (text) => new TextEncoder().encode(text)
      const vector = await verifyDelivery({
        secrets: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        headers: new Headers({
          "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
          "webhook-timestamp": "1614265330",
          "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        }),
        body: bytes('{"test": 2432232314}'),
        now: new Date(1614265330000)
      })
      const secrets = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
      const handled = []
      const { handle } = new DeliveryReceiver({ secrets, seen: new SeenInMemory(), onEvents: (events) => void handled.push(...events.map(({ eventId }) => eventId)) })
      const event = { eventId: "e-1", type: "DELIVERED", occurredAt: "2026-11-20T08:00:00Z", sequence: 0, shipment: { shipmentId: "S", origin: {}, destination: {} } }
      const body = bytes(JSON.stringify({ deliveryId: "d-1", sentAt: "2026-11-20T08:00:00Z", events: [event] }))
      const { headers } = await signDelivery({ secrets, deliveryId: "d-1", body })
      const answer = await handle(new Request("https://receiver.test", { method: "POST", headers, body }))
      const notification = bytes(JSON.stringify({ proNumber: "1", shipmentReferenceNumbers: {}, shipmentMilestoneStatus: "Delivered" }))
      const follower = new DeliveryReceiver({ unsigned: "accept", seen: new SeenInMemory(), onStatus: ({ proNumber }) => void handled.push(proNumber) })
      const unsigned = await follower.handle(new Request("https://receiver.test", { method: "POST", headers: { "webhook-id": "n-1" }, body: notification }))
      const tracking = new ShipmentStatusClient({ baseUrl: "https://waybill.test", fetch: async () => Response.json({ ProNumber: "1" }, { status: 202 }) })
      const charging = new FreightChargesClient({ baseUrl: "https://waybill.test", fetch: async () => Response.json([]) })
      const client = new TransitEventsClient({ baseUrl: "https://waybill.test", fetch: async () => Response.json({ data: [event], page: 1, pageSize: 50 }) })
      const listed = []
      for await (const { eventId } of client.allEvents()) listed.push(eventId)
      const invoicing = new InvoicesClient({ baseUrl: "https://waybill.test", fetch: async () => Response.json([{ uniqueID: "I" }]) })
      const invoices = []
      for await (const { uniqueID } of invoicing.all()) invoices.push(uniqueID)
      const record = { uniqueID: "D", shipmentID: "S", DOT: "1", MC: "2", invoiceNumber: "N", invoiceDate: "2026-11-20" }
      const uploaded = []
      const downloaded = []
      for (const streamUploads of [true, false]) {
        const documents = new DocumentsClient({
          baseUrl: "https://waybill.test",
          streamUploads,
          fetch: async (url, { body }) => {
            if (body === undefined) return Response.json({ ...record, documents: [{ documentType: "POD", files: [{ id: "f", content: "JVBERi0=" }] }] })
            uploaded.push(await new Response(body).text())
            return Response.json({ message: "ok" })
          }
        })
        await documents.upload({ ...record, documents: [{ documentType: "POD", files: [bytes("%PDF-"), new Blob([bytes("%PDF-")]), "JVBERi0="] }] })
        await documents.download("N", async ({ id }, content) => void downloaded.push(id, await new Response(content).text()))
        const { documents: [{ files: [{ content }] }] } = await documents.get("N")
        downloaded.push(new TextDecoder().decode(content))
      }
      const ordered = []
      const picking = new PickupsClient({
        baseUrl: "https://waybill.test",
        fetch: async (url, { headers }) => {
          ordered.push(headers["idempotency-key"].length)
          return Response.json([{ pickupStatus: "Accept" }])
        }
      })
      await picking.create({ isTest: true, pickupAddress: [], grossPickupWeight: 1, weightUofM: "LB", handlingUnitCount: 1 })
      return JSON.stringify({
        invoices,
        uploaded: uploaded.map((text) => JSON.parse(text).documents),
        downloaded,
        ordered,
        vector: vector.deliveryId,
        status: answer.status,
        unsigned: unsigned.status,
        handled,
        listed,
        found: await tracking.verified({ proNumber: "1" }),
        inFlight: await charging.inFlight("s-1")
      })
    })()`, context) as string
    const sent = [{ documentType: "POD", files: ["JVBERi0=", "JVBERi0=", "JVBERi0="] }]
    expect(JSON.parse(seen)).toEqual({
      invoices: ["I"],
      uploaded: [sent, sent],
      downloaded: ["f", "%PDF-", "%PDF-", "f", "%PDF-", "%PDF-"],
      ordered: [32],
      vector: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      status: 200,
      unsigned: 200,
      handled: ["e-1", "1"],
      listed: ["e-1"],
      found: { view: "public", shipment: { ProNumber: "1" } },
      inFlight: []
    })
    expect(runInContext("typeof process + typeof Buffer + typeof require", context)).toBe("undefinedundefinedundefined")
  }, 60_000)
})
