/**
 * Reads the EDI files of partners. Every folder `<tenant>/<partner>` with a `profile.json` is a partner; folders may come and go while the server
 * runs. Several servers may share the directory.
 */
import { AuditLog, Tenants, TransitEventIntake } from "@waybill/core"
import { Invoices } from "@waybill/core/invoices"
import { type EdiHandlers, placeOf } from "@waybill/edi"
import { directoryTransport, type ReceivedFile, receiveWaiting, type UnreadFile } from "@waybill/edi/transports"
import { Effect, Option } from "effect"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { clientOf, foldersIn, type Partner, principalOf, profileIn } from "./EdiPartners.ts"

/** Pause between two looks at the directory. */
const pauseMillis = 2_000

/** Services that store what partners send. */
type Services = AuditLog | Invoices | Tenants | TransitEventIntake

/** Reads what waits, again and again, until interrupted. */
export const runEdi = (directory: string): Effect.Effect<never, never, Services> => {
  const problems = new Map<string, string>()
  return Effect.promise(() => mkdir(directory, { recursive: true })).pipe(
    Effect.andThen(receiveAll(directory, problems)),
    Effect.catchCause((cause) => Effect.logError("EDI directory not read, trying again.", cause)),
    Effect.andThen(Effect.sleep(pauseMillis)),
    Effect.forever
  )
}

/** One look at every partner. A problem of a profile is logged once, until it changes. */
export const receiveAll = Effect.fnUntraced(function*(directory: string, problems: Map<string, string>) {
  const tenants = yield* Tenants
  for (const { partner, tenantId } of yield* Effect.promise(() => foldersIn(directory))) {
    const folder = join(directory, tenantId, partner)
    const profile = yield* Effect.promise(() => profileIn(folder))
    const problem = "problem" in profile
      ? profile.problem
      : yield* Effect.match(tenants.admit(tenantId), { onSuccess: (tenant) => Option.isSome(tenant) ? undefined : `There is no tenant ${tenantId}. Create it, or rename the folder ${join(directory, tenantId)}.`, onFailure: (error) => error.message })
    if (problem !== undefined && problems.get(folder) !== problem) {
      yield* Effect.logWarning(`EDI partner not read: ${problem}`).pipe(Effect.annotateLogs({ tenant: tenantId, partner }))
    }
    if (problem === undefined) problems.delete(folder)
    else problems.set(folder, problem)
    if (problem === undefined && !("problem" in profile)) yield* receiveOf({ tenantId, folder, profile })
  }
})

const receiveOf = Effect.fnUntraced(function*(partner: Partner) {
  const handlers = yield* handlersOf(partner)
  const files: Array<ReceivedFile | UnreadFile> = []
  yield* Effect.promise(() => receiveWaiting({ partner: partner.profile, transport: directoryTransport(partner.folder), handlers, onFile: (file) => files.push(file) }))
  for (const file of files) yield* logged(partner, file)
})

const logged = Effect.fnUntraced(function*({ profile, tenantId }: Partner, file: ReceivedFile | UnreadFile) {
  const audit = yield* AuditLog
  const log = "error" in file
    ? Effect.logError("EDI file not read, trying again.", file.error)
    : file.report.refused > 0 || file.report.faults.length > 0
    ? Effect.logWarning("EDI file read, with faults.")
    : Effect.logInfo("EDI file read.")
  const fields = "error" in file ? {} : {
    accepted: file.report.accepted,
    duplicates: file.report.duplicates,
    refused: file.report.refused,
    ...file.report.faults[0] === undefined ? {} : { fault: `${placeOf(file.report.faults[0])}: ${file.report.faults[0].detail}` }
  }
  yield* log.pipe(Effect.annotateLogs({ tenant: tenantId, partner: profile.partner, file: file.name, ...fields }))
  if ("error" in file) return
  const status = file.report.accepted + file.report.duplicates > 0 || file.report.refused === 0 ? 200 : 400
  yield* audit.later(
    { actor: { kind: "client", name: clientOf(profile) }, address: undefined, action: "edi.receive", tenantId, object: { kind: "edi-file", id: file.name }, requestId: "" },
    { status }
  )
})

const handlersOf = Effect.fnUntraced(function*(partner: Partner) {
  const events = yield* TransitEventIntake
  const invoices = yield* Invoices
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const principal = principalOf(partner)
  const handlers: EdiHandlers = {
    transitEvents: async (items) => (await run(events.report(principal, items))).results,
    invoices: async (items) => {
      // what was stored before a refusal is stored once more when the sets are given one by one, which changes nothing
      for (const item of items) await run(Effect.catchTags(invoices.create(principal, item), { InvoiceExists: refused, InvoiceNotYours: refused }))
      return items.map(() => ({ result: "accepted" }))
    }
  }
  return handlers
})

/** As a refusal of the bridge, which has no errors of invoices. */
const refused = (error: { readonly message: string }) => Effect.fail({ faults: [{ detail: error.message }] })
