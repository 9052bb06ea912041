/**
 * Reads the EDI files of partners and writes those for them. Every folder `<tenant>/<partner>` with a `profile.json` is a partner; folders may come
 * and go while the server runs. Several servers may share the directory.
 */
import { AuditLog, Tenants } from "@waybill/core"
import { placeOf } from "@waybill/edi"
import { directoryTransport, type IdlePosition, type ReceivedFile, receiveWaiting, type UnreadFile } from "@waybill/edi/transports"
import { Effect, Option } from "effect"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { clientOf, foldersIn, type Partner, postedFolder, profileIn } from "./EdiPartners.ts"
import { handlersOf, type ReceivingServices } from "./EdiReceiving.ts"
import { type SendingServices, sendTo, startSending } from "./EdiSending.ts"

/** Pause between two looks at the directory. */
const pauseMillis = 2_000

/** Longer than a sender waits for its answer. */
const postedMillis = 15 * 60 * 1000

type Services = AuditLog | ReceivingServices | SendingServices | Tenants

/** What a process remembers between two looks. */
export interface EdiMemory {
  /** Problems of profiles, by folder. */
  readonly problems: Map<string, string>
  /** Positions of feeds, by folder and set. */
  readonly idle: Map<string, IdlePosition>
}

export const ediMemory = (): EdiMemory => ({ problems: new Map(), idle: new Map() })

/** Reads what waits and writes what is new, again and again, until interrupted. */
export const runEdi = (directory: string): Effect.Effect<never, never, Services> => {
  const memory = ediMemory()
  return Effect.promise(() => mkdir(directory, { recursive: true })).pipe(
    Effect.andThen(lookAtPartners(directory, memory)),
    Effect.catchCause((cause) => Effect.logError("EDI directory not read, trying again.", cause)),
    Effect.andThen(Effect.sleep(pauseMillis)),
    Effect.forever
  )
}

/** One look at every partner. A problem of a profile is logged once, until it changes. */
export const lookAtPartners = Effect.fnUntraced(function*(directory: string, { idle, problems }: EdiMemory) {
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
    if (problem === undefined && !("problem" in profile)) yield* lookAt({ tenantId, folder, profile }, idle)
  }
})

/** A partner whose data cannot be stored or read now does not hold up the others. */
const lookAt = (partner: Partner, idle: EdiMemory["idle"]) =>
  startSending(partner).pipe(
    Effect.andThen(receiveOf(partner)),
    Effect.andThen(sendTo(partner, idle)),
    Effect.catchCause((cause) => Effect.logError("EDI folder of a partner not checked, trying again.", cause).pipe(Effect.annotateLogs({ tenant: partner.tenantId, partner: partner.profile.partner })))
  )

const receiveOf = Effect.fnUntraced(function*(partner: Partner) {
  const handlers = yield* handlersOf(partner)
  const files: Array<ReceivedFile | UnreadFile> = []
  // in `posted` are only files of processes that ended while they read them
  for (const transport of [directoryTransport(partner.folder), directoryTransport(partner.folder, { inbox: postedFolder, quietMillis: postedMillis })]) {
    yield* Effect.promise(() => receiveWaiting({ partner: partner.profile, transport, handlers, onFile: (file) => files.push(file) }))
  }
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
