/** `POST /edi/v1/files`: a partner sends a file and gets its acknowledgements in the answer. Its API key says which partner it is. */
import { InvalidInput, isOperator, NotPermitted, type Principal, qualifiedClient } from "@waybill/core"
import { placeOf } from "@waybill/edi"
import { directoryTransport, receiveOne } from "@waybill/edi/transports"
import { contract, type Failure, type IncomingBody, mount, type MountedContract } from "@waybill/http"
import { Effect, Schema, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { randomUUID } from "node:crypto"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import { clientPrefix, type Partner, postedFolder, profileIn } from "./EdiPartners.ts"
import { handlersOf } from "./EdiReceiving.ts"
import { startSending } from "./EdiSending.ts"

/** Larger files go by SFTP or through the directory. */
const maxFileBytes = 16 * 1024 * 1024

const x12 = "application/edi-x12"

const PostedFilesContract = contract({
  area: "edi",
  title: "EDI",
  description: "Where trading partners send files.",
  access: "caller",
  endpoints: {
    sendEdiFile: {
      route: "POST /v1/files",
      audit: { action: "edi.receive", object: "edi-file" },
      summary: "Send a file",
      description: "One or more X12 interchanges. They are stored before the answer, which has an interchange with 997 or 999 for each of them. The same file again " +
        "is a duplicate. The caller is the client edi-<partner> of a partner whose profile has an HTTP transport that receives.",
      body: { schema: Schema.String, contentTypes: [x12, "application/octet-stream", "text/plain"], maxBytes: maxFileBytes, streamed: true },
      answers: {
        200: { description: "The acknowledgements", schema: Schema.String, contentType: x12 },
        204: { description: "The file was read, and there is nothing to acknowledge" }
      }
    }
  }
})

/** The call for the partners of this directory. */
export const postedFiles = Effect.fnUntraced(function*(directory: string) {
  const services = yield* Effect.context<Effect.Services<ReturnType<typeof receive>>>()
  return mount(PostedFilesContract, "/edi", {
    sendEdiFile: ({ body, principal }) =>
      Effect.gen(function*() {
        const partner = yield* partnerOf(directory, principal)
        const acknowledgements = yield* Effect.provideContext(receive(partner, body), services)
        return acknowledgements === "" ? HttpServerResponse.empty({ status: 204 }) : HttpServerResponse.text(acknowledgements, { contentType: x12 })
      })
  }) satisfies MountedContract
})

/** A partner that does not exist answers like one whose profile receives nothing. */
const partnerOf = Effect.fnUntraced(function*(directory: string, principal: Principal): Effect.fn.Return<Partner, Failure> {
  const refused = new NotPermitted({ needed: "EDI partner" })
  const prefix = qualifiedClient(clientPrefix)
  // the profile says what the partner may write, so its key needs no rights beyond those of its other calls
  if (isOperator(principal) || !principal.client.startsWith(prefix)) return yield* refused
  const name = principal.client.slice(prefix.length)
  // names of profiles, so that a client's name is no path
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/u.test(name)) return yield* refused
  const folder = join(directory, principal.tenantId, name)
  const profile = yield* Effect.promise(() => profileIn(folder))
  if ("problem" in profile || profile.partner !== name || profile.transport?.kind !== "http" || profile.transport.receive !== true) return yield* refused
  return { tenantId: principal.tenantId, folder, profile }
})

/** The file is stored first. If it cannot be read, the partner sends it again; if this process ends, a worker reads it. */
const receive = Effect.fnUntraced(function*(partner: Partner, body: IncomingBody) {
  // before anything is stored that has an answer
  yield* Effect.orDie(startSending(partner))
  const handlers = yield* handlersOf(partner)
  const spool = directoryTransport(partner.folder, { inbox: postedFolder })
  const name = `${randomUUID()}.edi`
  yield* attempt(() => spool.arrive(name, Stream.toAsyncIterable(body)))
  const report = yield* Effect.onError(
    attempt(() => receiveOne({ partner: partner.profile, handlers, transport: { ...spool, send: async () => {} } }, name)),
    () => Effect.promise(() => rm(join(partner.folder, postedFolder, name), { force: true }))
  )
  const [fault] = report.faults
  if (report.interchanges === 0 && fault !== undefined) return yield* InvalidInput.of({ pointer: "", code: "invalid", detail: `${placeOf(fault)}: ${fault.detail}` })
  return report.acknowledgements.map(({ text }) => text).join("")
})

/** Errors of the service are answered as such, and any other is a defect. */
const attempt = <A>(work: () => Promise<A>): Effect.Effect<A, Failure> =>
  Effect.catch(
    Effect.tryPromise({ try: work, catch: (error) => error }),
    (error) => isFailure(error) ? Effect.fail(error) : Effect.die(error)
  )

const isFailure = (error: unknown): error is Failure => ["Refused", "StorageError"].includes((error as { readonly _tag?: unknown } | null)?._tag as string)
