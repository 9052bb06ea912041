import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, inject, it } from "vitest"
import { directory, eventually, Program, sharedSettings } from "../program/Program.ts"
import { tenantOn } from "../program/Tenant.ts"

const profile = { partner: "acme-lines", them: { qualifier: "02", id: "ABCD" }, us: { qualifier: "ZZ", id: "WAYBILL" }, version: "004010", sets: ["214"], transport: { kind: "http", receive: true } }

const fileOf = (shipmentId: string, more = "") =>
  `ISA*00*          *00*          *02*ABCD           *ZZ*WAYBILL        *261120*1415*U*00401*000000007*0*P*>~GS*QM*ABCD*WAYBILL*20261120*1415*7*X*004010~ST*214*0001~B10*${shipmentId}**ABCD~LX*1~AT7*X4*NS***20261120*0815*UT~SE*5*0001~GE*1*7~IEA*1*000000007~${more}`

const mebibyte = 1024 * 1024

type Body = string | Uint8Array<ArrayBuffer> | ReadableStream

/** A server with a directory of partners. */
const served = async () => {
  const root = directory()
  const { env, operatorKey } = sharedSettings(inject("pgUrl"), { WAYBILL_EDI_DIR: root })
  const url = await new Program({ env }).ready()
  const tenant = await tenantOn(url, operatorKey)

  const partnerFolder = (partner: string, more: object = {}) => {
    const folder = join(root, "acme", partner)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "profile.json"), JSON.stringify({ ...profile, partner, ...more }))
    return folder
  }

  const keyOf = async (name: string, role: "carrier" | "customer" = "carrier", tenantId = "acme") =>
    (await tenant.operator.createApiKey(tenantId, { name, roles: [role], ...role === "customer" ? { accounts: ["A-1"] } : {} })).key

  const post = async (key: string | undefined, body: Body, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(`${url}/edi/v1/files`, {
      method: "POST",
      headers: { "content-type": "application/edi-x12", ...key === undefined ? {} : { "x-api-key": key }, ...headers },
      body,
      ...body instanceof ReadableStream ? { duplex: "half" } : {}
    })
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() }
  }

  return { root, url, tenant, operatorKey, partnerFolder, keyOf, post }
}

const names = (...path: ReadonlyArray<string>) => existsSync(join(...path)) ? readdirSync(join(...path)).sort() : []

describe("files that partners post", { timeout: 120_000 }, () => {
  it("are stored and acknowledged in the answer, and are duplicates when they come again", async () => {
    const { keyOf, partnerFolder, post, tenant, url } = await served()
    const folder = partnerFolder("acme-lines")
    const key = await keyOf("edi-acme-lines")
    const first = await post(key, fileOf("PRO-1"))
    expect([first.status, first.type]).toEqual([200, "application/edi-x12"])
    for (const part of ["*000000001*", "AK1*QM*7~", "AK9*A*1*1*1~"]) expect(first.text).toContain(part)
    const events = await fetch(`${url}/visibility/v1/events?shipmentId=PRO-1`, { headers: { "x-api-key": tenant.carrierKey } }).then((response) => response.json()) as { readonly totalCount: number }
    expect(events.totalCount).toBe(1)
    expect((await post(key, fileOf("PRO-1"))).text).toContain("AK9*A*1*1*1~")
    expect(names(folder, "posted")).toEqual([])
    expect(names(folder, "outbox")).toEqual([])
    const reports = names(folder, "done").filter((name) => name.endsWith(".report.jsonl")).map((name) => JSON.parse(readFileSync(join(folder, "done", name), "utf8").split("\n")[0]!) as { readonly accepted: number; readonly duplicates: number })
    expect(reports.map(({ accepted, duplicates }) => [accepted, duplicates]).sort()).toEqual([[0, 1], [1, 0]])
    // written a moment later
    const entries = await eventually(async () => {
      const found = (await tenant.operator.listAudit({ tenant: "acme" })).data.filter(({ action }) => action === "edi.receive")
      return found.length === 2 ? found : undefined
    })
    expect(entries[0]).toMatchObject({ actor: { name: "key:edi-acme-lines" } })
  })

  it("need no key that reads the freight of the tenant", async () => {
    const { keyOf, partnerFolder, post, tenant, url } = await served()
    partnerFolder("shipper")
    const key = await keyOf("edi-shipper", "customer")
    expect((await post(key, fileOf("PRO-5"))).status).toBe(200)
    const seen = async (apiKey: string) => (await fetch(`${url}/visibility/v1/events?shipmentId=PRO-5`, { headers: { "x-api-key": apiKey } }).then((response) => response.json()) as { readonly totalCount: number }).totalCount
    expect([await seen(key), await seen(tenant.carrierKey)]).toEqual([0, 1])
  })

  it("get an answer without a body where there is nothing to acknowledge", async () => {
    const { keyOf, partnerFolder, post } = await served()
    partnerFolder("silent", { acknowledge: "none" })
    expect(await post(await keyOf("edi-silent"), fileOf("PRO-2"))).toMatchObject({ status: 204, text: "" })
  })

  it("are refused with their fault when they are no EDI, and are kept", async () => {
    const { keyOf, partnerFolder, post } = await served()
    const folder = partnerFolder("wrong")
    const { status, text } = await post(await keyOf("edi-wrong"), "no EDI")
    expect([status, JSON.parse(text)]).toEqual([400, expect.objectContaining({ code: "invalid_input", detail: expect.stringContaining("ISA") })])
    expect(names(folder, "failed")).toHaveLength(2)
  })

  it("are taken from the client of a partner whose profile receives, and from nobody else", async () => {
    const { keyOf, operatorKey, partnerFolder, post, root, tenant, url } = await served()
    await tenantOn(url, operatorKey, "others")
    partnerFolder("strict")
    partnerFolder("by-sftp", { transport: { kind: "http", sendTo: "https://example.com/" } })
    partnerFolder("by-directory", { transport: undefined })
    const file = fileOf("PRO-3")
    const refused = [
      await keyOf("edi-by-sftp"),
      await keyOf("edi-by-directory"),
      await keyOf("edi-nobody"),
      await keyOf("strict"),
      await keyOf("edi-..."),
      tenant.carrierKey,
      tenant.customerKey,
      // a partner of that name belongs to another tenant
      await keyOf("edi-strict", "carrier", "others")
    ]
    for (const key of refused) {
      const { status, text } = await post(key, file)
      expect([status, (JSON.parse(text) as { readonly code: string }).code]).toEqual([403, "not_permitted"])
    }
    expect((await post(undefined, file)).status).toBe(401)
    expect((await post("wb_wrong", file)).status).toBe(401)
    expect((await post(operatorKey, file)).status).toBe(403)
    for (const folder of ["posted", "done", "failed"]) expect(names(root, "acme", "strict", folder)).toEqual([])
  })

  it("are judged by their size before they are read, and while they arrive", async () => {
    const { keyOf, partnerFolder, post } = await served()
    const folder = partnerFolder("large")
    const key = await keyOf("edi-large")
    expect(await post(key, new Uint8Array(16 * mebibyte + 1))).toMatchObject({ status: 413, text: expect.stringContaining("body_too_large") })
    let pieces = 0
    const endless = new ReadableStream({
      pull: (controller) => {
        pieces += 1
        controller.enqueue(new Uint8Array(mebibyte))
      }
    })
    // the server may end the connection while the rest is sent
    expect(await post(key, endless).then(({ status }) => status, () => 413)).toBe(413)
    expect(pieces).toBeLessThan(200)
    expect([await post(key, fileOf("PRO-4"), { "content-type": "application/json" }), await post(key, fileOf("PRO-4"), { "content-encoding": "gzip" })].map(({ status }) => status)).toEqual([415, 415])
    expect(names(folder, "posted")).toEqual([])
    expect(names(folder, "done")).toEqual([])
  })

  it("are described in the OpenAPI document of the server", async () => {
    const { url } = await served()
    const { paths } = await fetch(`${url}/openapi.json`).then((response) => response.json()) as { readonly paths: Readonly<Record<string, object>> }
    expect(paths["/edi/v1/files"]).toMatchObject({ post: { operationId: "sendEdiFile", requestBody: { description: "At most 16384 KiB.", content: { "application/edi-x12": {} } } } })
  })
})
