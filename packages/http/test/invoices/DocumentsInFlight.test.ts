/** Measures how much of a file is in memory between request and storage. */
import { DocumentContents, InvoiceDocuments } from "@waybill/core/invoices"
import { Effect, Layer } from "effect"
import { beforeEach, describe, expect, it } from "vitest"
import { runningService } from "../TestService.ts"
import { mebibyte, uploadBody } from "./UploadBodies.ts"

const size = 25 * mebibyte

/** A few hundred kilobytes. */
const few = 400 * 1024

let written = 0
let read = 0
let observe = () => {}

/** The storage's contents with counters. */
const watched = Layer.effect(
  DocumentContents,
  Effect.gen(function*() {
    const contents = yield* DocumentContents
    return DocumentContents.of({
      ...contents,
      open: (tenantId) =>
        Effect.map(contents.open(tenantId), (writer) => ({
          ...writer,
          write: (chunk) =>
            Effect.andThen(writer.write(chunk), Effect.sync(() => {
              written += chunk.length
              observe()
            }))
        })),
      read: (tenantId, contentId, chunk) =>
        Effect.tap(contents.read(tenantId, contentId, chunk), (bytes) => Effect.sync(() => {
          read += bytes?.length ?? 0
        }))
    })
  })
)

const service = await runningService({ over: Layer.fresh(InvoiceDocuments.layer).pipe(Layer.provide(watched)) })
const acme = await service.tenant("acme")
beforeEach(() => {
  written = 0
  read = 0
  observe = () => {}
})

describe("a file of 25 MiB", () => {
  it("is never in memory as a whole: received and written bytes stay close together", async () => {
    const body = uploadBody([size])
    let held = 0
    observe = () => {
      held = Math.max(held, body.pulled() * 3 / 4 - written)
    }
    const answer = await service.fetch(
      new Request("http://waybill.test/invoicing/documents", {
        method: "POST",
        headers: { "x-api-key": acme.carrier, "content-type": "application/json" },
        body: body.stream,
        duplex: "half"
      } as RequestInit)
    )
    expect([answer.status, written]).toEqual([201, size])
    expect(held).toBeGreaterThan(0)
    expect(held).toBeLessThan(few)
  }, 60_000)

  it("is read no faster and no further than its reader requests", async () => {
    const response = await service.respond(new Request("http://waybill.test/invoicing/documents/4711", { headers: { "x-api-key": acme.carrier } }))
    const reader = response.body!.getReader()
    let taken = 0
    let held = 0
    for (let next = await reader.read(); !next.done && taken < size; next = await reader.read()) {
      taken += next.value.length
      held = Math.max(held, read - taken * 3 / 4)
    }
    expect(held).toBeLessThan(few)
    await reader.cancel()
    const stopped = read
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect([read - stopped < few, read < size]).toEqual([true, true])
  }, 60_000)

  it("is looked for and not read further for a HEAD", async () => {
    const answer = await service.send("HEAD", "/invoicing/documents/4711", { key: acme.carrier })
    expect([answer.status, Number(answer.headers.get("content-length")) > size * 4 / 3, read < 1024 * 1024]).toEqual([200, true, true])
  })
})
