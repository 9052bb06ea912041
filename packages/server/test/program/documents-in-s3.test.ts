import { DocumentsClient, type DocumentUpload } from "@waybill/client"
import { documentsSample, fileSample } from "@waybill/testkit"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, inject, it, onTestFinished } from "vitest"
import { runProcess } from "../commands/Cli.ts"
import { directory, Program, sharedSettings, startProgram } from "./Program.ts"
import { tenantOn } from "./Tenant.ts"

const pgUrl = inject("pgUrl")

const ofHttp = (path: string) => import(new URL(`../../../http/test/invoices/${path}`, import.meta.url).pathname)
const { S3Double } = await ofHttp("S3Double.ts") as { readonly S3Double: new() => { readonly objects: ReadonlyMap<string, Uint8Array>; readonly uploads: ReadonlyMap<string, unknown> } }
const { startS3 } = await ofHttp("S3Server.ts") as { readonly startS3: (s3: object) => Promise<{ readonly url: string; readonly stop: () => Promise<void> }> }

/** Several parts in S3, and less than one. */
const files = [fileSample("PDF", 6 * 1024 * 1024), fileSample("PNG", 3000)]

const upload = (invoiceNumber: string) => documentsSample({ invoiceNumber, documents: [{ documentType: "POD", files }] }) as DocumentUpload

const filesIn = (papers: string) => readdirSync(papers, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length

/** A bucket, and the settings of the S3 client in the programs. */
const bucket = async () => {
  const s3 = new S3Double()
  const server = await startS3(s3)
  onTestFinished(server.stop)
  return { s3, env: { WAYBILL_S3_ENDPOINT: server.url, AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "waybill", AWS_SECRET_ACCESS_KEY: "waybill" } }
}

describe("documents in S3, moved while the program serves", { timeout: 120_000 }, () => {
  it.each([
    ["the database to S3", "postgres", "s3"],
    ["S3 to the database", "s3", "postgres"],
    ["a directory to S3", "directory", "s3"],
    ["S3 to a directory", "s3", "directory"]
  ] as const)("go from %s, with the files that are written and deleted meanwhile", async (_, from, to) => {
    const { env: s3Env, s3 } = await bucket()
    const papers = join(directory(), "papers")
    const places = { postgres: "postgres", s3: "s3://papers/freight/", directory: `directory:${papers}` }
    const { env, operatorKey } = sharedSettings(pgUrl, { ...s3Env, WAYBILL_DOCUMENTS: places[to], WAYBILL_DOCUMENTS_ALSO: places[from] })
    const { program: first, url } = await startProgram({ env: { ...env, WAYBILL_DOCUMENTS: places[from], WAYBILL_DOCUMENTS_ALSO: places[to] } })
    const { carrierKey } = await tenantOn(url, operatorKey)
    const before = new DocumentsClient({ baseUrl: url, apiKey: carrierKey })
    for (const number of ["1", "2", "3"]) await before.upload(upload(number))
    const kept = { postgres: () => undefined, s3: () => s3.objects.size, directory: () => filesIn(papers) }
    expect(kept[from]() ?? 6).toBe(6)
    expect(await first.kill("SIGTERM")).toEqual({ code: 0, signal: null })

    const second = new Program({ env })
    const documents = new DocumentsClient({ baseUrl: await second.ready(), apiKey: carrierKey })
    await documents.remove("3")
    const moving = runProcess(["documents", "move", "--keep-seconds", "0", "--json"], { env })
    await documents.upload(upload("4"))
    const moved = await moving
    expect(moved.code, moved.stderr).toBe(0)
    expect(JSON.parse(moved.stdout)).toMatchObject({ from: places[from], to: places[to], moved: 4, missing: 0, damaged: 0, left: 0 })
    expect(kept[from]() ?? 0).toBe(0)
    expect(kept[to]() ?? 6).toBe(6)
    expect(s3.uploads.size).toBe(0)
    for (const number of ["1", "2", "4"]) {
      const found = await documents.get(number)
      const contents = found.documents.flatMap(({ files }) => files.map(({ content }) => Buffer.from(content)))
      expect(contents.map((content, n) => content.equals(files[n]!)), number).toEqual([true, true])
    }
    await expect(documents.get("3")).rejects.toMatchObject({ status: 404 })
  })
})
