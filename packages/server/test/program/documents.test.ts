import { DocumentsClient, type DocumentUpload } from "@waybill/client"
import { documentsSample, fileSample } from "@waybill/testkit"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, inject, it } from "vitest"
import { runProcess, start } from "../commands/Cli.ts"
import { directory, eventually, Program, sharedSettings, startProgram } from "./Program.ts"
import { tenantOn } from "./Tenant.ts"

const pgUrl = inject("pgUrl")

const mebibyte = 1024 * 1024

/** The largest allowed file. */
const largest = fileSample("PDF", 25 * mebibyte)

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

const upload = (invoiceNumber: string, files: ReadonlyArray<Uint8Array>) =>
  documentsSample({ invoiceNumber, documents: [{ documentType: "POD", files }] }) as DocumentUpload

/** Peak memory of the process in MiB; when run from source, it starts high. */
const mostResident = (program: Program) => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${program.child.pid}/status`, "utf8"))![1]) / 1024

/** Settings of the server that was started last. */
let lastSettings: Readonly<Record<string, string>> | undefined

const served = async (more: Readonly<Record<string, string>> = {}) => {
  const { env, operatorKey } = sharedSettings(pgUrl, more)
  lastSettings = env
  const { program, url } = await startProgram({ env })
  const { carrierKey } = await tenantOn(url, operatorKey)
  return { program, url, carrierKey, documents: new DocumentsClient({ baseUrl: url, apiKey: carrierKey, basePath: env["WAYBILL_BASE_PATH_INVOICES"] }) }
}

/** The content of an invoice number's only file, in chunks. */
const downloaded = async (documents: DocumentsClient, invoiceNumber: string) => {
  const hash = createHash("sha256")
  let pieces = 0
  await documents.download(invoiceNumber, async (_, content) => {
    for await (const piece of content) {
      hash.update(piece)
      pieces += 1
    }
  })
  return { sha256: hash.digest("hex"), pieces }
}

describe("documents, served", { timeout: 120_000 }, () => {
  it.runIf(process.platform === "linux").each([
    ["the database", () => ({})],
    ["a directory", () => ({ WAYBILL_DOCUMENTS: `directory:${join(directory(), "papers")}` })]
  ])("uploads and downloads the largest allowed file with %s, with less than 100 MiB above its idle memory", async (_, settings) => {
    const { documents, program } = await served(settings())
    await documents.upload(upload("4710", [fileSample("PDF", 1000)]))
    await downloaded(documents, "4710")
    const atRest = mostResident(program)
    await documents.upload(upload("4711", [largest]))
    const found = await downloaded(documents, "4711")
    expect(found.sha256).toBe(sha256(largest))
    expect(found.pieces).toBeGreaterThan(10)
    expect(mostResident(program) - atRest).toBeLessThan(100)
  })

  it("refuses one byte more, and keeps nothing of a refused upload", async () => {
    const papers = join(directory(), "papers")
    const { documents } = await served({ WAYBILL_DOCUMENTS: `directory:${papers}` })
    const larger = new Uint8Array(largest.length + 1)
    larger.set(largest)
    await expect(documents.upload(upload("4711", [fileSample("PDF", 1000), larger]))).rejects.toMatchObject({ status: 413 })
    await expect(documents.upload(upload("4711", [new TextEncoder().encode("<html>")]))).rejects.toMatchObject({ status: 400 })
    await expect(documents.get("4711")).rejects.toMatchObject({ status: 404 })
    expect(readdirSync(papers, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())).toEqual([])
  })

  it("keeps files in the configured directory, where the next process finds them, also when it keeps new ones elsewhere", async () => {
    const papers = join(directory(), "papers")
    const { env, operatorKey } = sharedSettings(pgUrl, { WAYBILL_DOCUMENTS: `directory:${papers}` })
    const { program: first, url } = await startProgram({ env })
    const { carrierKey } = await tenantOn(url, operatorKey)
    const file = fileSample("PNG", 3000)
    await new DocumentsClient({ baseUrl: url, apiKey: carrierKey }).upload(upload("4712", [file]))
    const [kept, ...others] = readdirSync(papers, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    expect(others).toEqual([])
    expect(new Uint8Array(readFileSync(join(kept!.parentPath, kept!.name)))).toEqual(file)
    expect(await first.kill("SIGTERM")).toEqual({ code: 0, signal: null })

    const second = new Program({ env: { ...env, WAYBILL_DOCUMENTS: "postgres", WAYBILL_DOCUMENTS_ALSO: `directory:${papers}` } })
    const documents = new DocumentsClient({ baseUrl: await second.ready(), apiKey: carrierKey })
    expect((await downloaded(documents, "4712")).sha256).toBe(sha256(file))
    await documents.upload(upload("4713", [file]))
    expect((await downloaded(documents, "4713")).sha256).toBe(sha256(file))
    expect(readdirSync(papers, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())).toHaveLength(1)
    await documents.remove("4712")
    expect(readdirSync(papers, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())).toEqual([])
  })

  it("moves files to another place while it serves, also after the move was killed, and removes them from the former place", async () => {
    const papers = join(directory(), "papers")
    const { env, operatorKey } = sharedSettings(pgUrl, { WAYBILL_DOCUMENTS: "postgres", WAYBILL_DOCUMENTS_ALSO: `directory:${papers}` })
    const { program: first, url } = await startProgram({ env: { ...env, WAYBILL_DOCUMENTS: `directory:${papers}`, WAYBILL_DOCUMENTS_ALSO: "postgres" } })
    const { carrierKey } = await tenantOn(url, operatorKey)
    const file = fileSample("PDF", 400_000)
    for (let n = 0; n < 4; n++) await new DocumentsClient({ baseUrl: url, apiKey: carrierKey }).upload(upload(`47${n}`, Array.from({ length: 30 }, () => file)))
    expect(await first.kill("SIGTERM")).toEqual({ code: 0, signal: null })
    const inPapers = () => readdirSync(papers, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length
    expect(inPapers()).toBe(120)

    const second = new Program({ env })
    const documents = new DocumentsClient({ baseUrl: await second.ready(), apiKey: carrierKey })
    const killed = start(["documents", "move", "--keep-seconds", "0"], env)
    await eventually(() => killed.stderr.includes("100 of 120 files looked at.") ? true : undefined, { what: () => killed.output })
    await killed.kill("SIGKILL")
    await documents.remove("470")
    await documents.upload(upload("474", [file]))
    const moved = await runProcess(["documents", "move", "--keep-seconds", "0", "--json"], { env })
    expect(moved.code, moved.stderr).toBe(0)
    const result = JSON.parse(moved.stdout)
    expect(result).toMatchObject({ from: `directory:${papers}`, to: "postgres", missing: 0, damaged: 0, left: 0 })
    expect(result.moved + result.there).toBe(91)
    expect(inPapers()).toBe(0)
    for (const number of ["471", "472", "473", "474"]) {
      const found = await documents.get(number)
      for (const { content } of found.documents.flatMap(({ files }) => files)) expect(sha256(content)).toBe(sha256(file))
    }
    expect((await runProcess(["documents", "move"], { env: { ...env, WAYBILL_DOCUMENTS_ALSO: "" } })).code).toBe(2)
    expect((await runProcess(["documents", "move"], { env: { ...env, WAYBILL_DOCUMENTS_ALSO: "postgres" } })).stderr).toContain("WAYBILL_DOCUMENTS_ALSO")
  })

  it("does not start when the directory is unusable, and says so in its log", async () => {
    const { env } = sharedSettings(pgUrl, { WAYBILL_DOCUMENTS: "directory:/dev/null/papers" })
    const program = new Program({ env })
    expect(await program.end()).toEqual({ code: 1, signal: null })
    expect(program.stderr).toContain("Documents cannot be kept in /dev/null/papers: ")
    expect(program.stderr.trim().split("\n").filter((line) => !line.startsWith("{"))).toEqual([])
  })

  it("answers 503 and not the beginning of a document that is in the store of another process only", async () => {
    const { documents, url, carrierKey } = await served({ WAYBILL_DOCUMENTS: `directory:${join(directory(), "papers")}` })
    await documents.upload(upload("4712", [fileSample("PDF", 1000)]))
    const settings = lastSettings!
    const { program: other, url: otherUrl } = await startProgram({ env: { ...settings, WAYBILL_DOCUMENTS: "postgres" } })
    const get = async (base: string, path: string) => {
      const response = await fetch(`${base}/invoicing/documents${path}`, { headers: { "x-api-key": carrierKey } })
      return [response.status, JSON.stringify(await response.json())] as const
    }
    expect((await get(url, "/4712"))[0]).toBe(200)
    for (const path of ["/4712", "?invoiceNumber=4712"]) {
      const [status, body] = await get(otherUrl, path)
      expect(status).toBe(503)
      expect(body).not.toContain("content")
    }
    await eventually(() => other.output.includes("is not in the document store of this process. Every process needs the same one (WAYBILL_DOCUMENTS);") ? true : undefined)
  })
})
