/** EDI files, and documents that move, through a server on Citus. Run by `npm run citus`. */
import { DocumentsClient, type DocumentUpload } from "@waybill/client"
import { documentsSample, fileSample } from "@waybill/testkit"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { runProcess } from "../commands/Cli.ts"
import { fileOf, partnerFolder, profile, put, segmentsIn, sentTo } from "../edi/EdiFolder.ts"
import { directory, eventually } from "../program/Program.ts"
import { event, tenantOn } from "../program/Tenant.ts"
import { servedByCitus } from "./Cluster.ts"

const status = ["B10*PRO-1**ABCD", "LX*1", "AT7*X4*NS***20261120*0815*UT"]

describe("operations on Citus", { timeout: 300_000 }, () => {
  it("read the files of an EDI partner, acknowledge them, and send each event to it once", async () => {
    const root = directory()
    const folder = partnerFolder(root, "acme", { ...profile, writes: ["214"], accounts: ["A-1"], scac: "WAYB" })
    const { operatorKey, program, url } = await servedByCitus({ WAYBILL_EDI_DIR: root })
    const tenant = await tenantOn(url, operatorKey)
    put(folder, "status.edi", fileOf("QM", "214", status))
    const acknowledged = await eventually(() => sentTo(folder, "997")[0], { seconds: 90, what: () => program.stderr.slice(-3000) })
    expect(acknowledged).toContain("AK9*A*1*1*1")
    expect((await fetch(`${url}/visibility/v1/events?shipmentId=PRO-1`, { headers: { "x-api-key": tenant.carrierKey } }).then((response) => response.json()))).toMatchObject({ totalCount: 1 })
    for (const id of ["S-1", "S-2", "S-3"]) {
      const { shipment, ...rest } = event(id, 1)
      await tenant.intakeAt(url).publishTransitEvents([{ ...rest, type: "PICKED_UP", shipment: { ...shipment, scac: "WAYB", references: [{ type: "PRO", value: id }] } }])
    }
    const sent = () => segmentsIn(sentTo(folder, "214"), "B10").map((segment) => segment.split("*")[1]).sort()
    await eventually(() => sent().length >= 3 ? true : undefined, { seconds: 90, what: () => `${sent()}\n${program.stderr.slice(-3000)}` })
    expect(sent()).toEqual(["S-1", "S-2", "S-3"])
    expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
  })

  it("move documents from the database into a directory while the server runs", async () => {
    const papers = join(directory(), "papers")
    const { env, operatorKey, program, url } = await servedByCitus({ WAYBILL_DOCUMENTS: "postgres", WAYBILL_DOCUMENTS_ALSO: `directory:${papers}` })
    const { carrierKey } = await tenantOn(url, operatorKey)
    const documents = new DocumentsClient({ baseUrl: url, apiKey: carrierKey })
    const file = fileSample("PDF", 300_000)
    for (const invoiceNumber of ["1", "2", "3"]) {
      await documents.upload(documentsSample({ invoiceNumber, documents: [{ documentType: "POD", files: [file] }] }) as DocumentUpload)
    }
    const moved = await runProcess(["documents", "move", "--keep-seconds", "0", "--json"], {
      env: { ...env, WAYBILL_DOCUMENTS: `directory:${papers}`, WAYBILL_DOCUMENTS_ALSO: "postgres" }
    })
    expect(moved.code, moved.stderr).toBe(0)
    expect(JSON.parse(moved.stdout)).toMatchObject({ from: "postgres", to: `directory:${papers}`, moved: 3, missing: 0, damaged: 0, left: 0 })
    expect(existsSync(papers) ? readdirSync(papers, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length : 0).toBe(3)
    for (const number of ["1", "2", "3"]) {
      const [found] = (await documents.get(number)).documents.flatMap(({ files }) => files)
      expect(Buffer.from(found!.content).equals(Buffer.from(file))).toBe(true)
    }
    expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
  })
})
