/**
 * Reads the EDI files of partners and writes those for them. Every folder `<tenant>/<partner>` with a `profile.json` is a partner; folders can be
 * added and removed while the server runs. Several servers may share the directory.
 */
import { AuditLog, monotonicMillis, Tenants } from "@waybill/core"
import { isRefusal, placeOf } from "@waybill/edi"
import { directoryTransport, type IdlePosition, isFull, makeDirectory, type ReceivedFile, receiveWaiting, removeKept, type SkippedEntry, type UnreadFile } from "@waybill/edi/transports"
import { Effect, Option } from "effect"
import * as Clock from "effect/Clock"
import { join } from "node:path"
import { EdiProblems, logSkipped } from "./EdiProblems.ts"
import { clientOf, defaultEdiLimits, type EdiLimits, foldersIn, type Partner, postedFolder, profileIn } from "./EdiPartners.ts"
import { handlersOf, type ReceivingServices } from "./EdiReceiving.ts"
import { type SendingServices, sendTo, startSending } from "./EdiSending.ts"
import { verdictText } from "./EdiVerdicts.ts"

/** Pause between two polls of the directory. */
const pauseMillis = 2_000

/** Most partners that are read at the same time, in all and of one tenant: a file may take minutes. */
const maxPolls = 16
const maxPollsOfTenant = 4

/** Pause before a file that failed is read again; it doubles up to the longest one. */
const firstPauseMillis = 2_000
const maxPauseMillis = 15 * 60_000

/** Failed files that are remembered for a folder. */
const maxUnread = 1_000

/** Of a log line; the report of the file has them all. */
const longestVerdict = 200

/** Pause between two removals of old files. */
const cleanUpMillis = 3_600_000

/** Longer than a sender waits for its answer. */
const postedMillis = 15 * 60 * 1000

type Services = AuditLog | ReceivingServices | SendingServices | Tenants

/** The state of a folder between two polls. */
interface PartnerState {
  readonly tenantId: string
  isRunning: boolean
  /** In `monotonicMillis`. */
  polledAt: number
  /** When old files were last removed, in `monotonicMillis`. */
  cleanedAt: number
  /** Of its profile, or of the folder of its tenant. */
  problem: string | undefined
  /** Of its polls. */
  readonly problems: EdiProblems
  /** Whether too many files wait in the outbox. */
  isFull: boolean
  /** Entries of the inbox that are never read, and why. */
  skipped: ReadonlySet<string>
  /** Positions of feeds, by set. */
  readonly idle: Map<string, IdlePosition>
  /** Files that failed, by name. */
  readonly unread: Map<string, Unread>
}

interface Unread {
  readonly failures: number
  /** In `monotonicMillis`. */
  readonly dueAt: number
}

/** By folder. */
export type PartnerStates = Map<string, PartnerState>

/** Reads what waits and writes what is new, again and again, until interrupted. */
export const runEdi = (directory: string, limits: EdiLimits): Effect.Effect<never, never, Services> => {
  const states: PartnerStates = new Map()
  const problems = new EdiProblems()
  const poll = Effect.promise(() => makeDirectory(directory)).pipe(
    Effect.andThen(duePolls(directory, states, limits)),
    Effect.flatMap((polls) => Effect.forEach(polls, (each) => Effect.forkScoped(each), { discard: true }))
  )
  return Effect.scoped(
    problems.logged("poll", poll, (cause) => Effect.logError("EDI directory not read, trying again.", cause)).pipe(
      Effect.andThen(Effect.sleep(pauseMillis)),
      Effect.forever
    )
  )
}

/** Polls every partner, and waits for all of them. */
export const pollPartners = (directory: string, states: PartnerStates, limits: EdiLimits = defaultEdiLimits) =>
  Effect.flatMap(duePolls(directory, states, limits), (polls) => Effect.all(polls, { concurrency: "unbounded", discard: true }))

/**
 * The polls of partners that are not being polled, longest wait first. The caller runs them concurrently, so that none delays another. A problem of a profile is logged once, until it changes.
 */
export const duePolls = Effect.fnUntraced(function*(directory: string, states: PartnerStates, limits: EdiLimits = defaultEdiLimits) {
  const tenants = yield* Tenants
  const ready: Array<readonly [Partner, PartnerState]> = []
  const present = new Set<string>()
  const stateOf = (folder: string, tenantId: string): PartnerState => {
    present.add(folder)
    const state = states.get(folder) ?? { tenantId, isRunning: false, polledAt: -1, cleanedAt: -Infinity, problem: undefined, problems: new EdiProblems(), isFull: false, skipped: new Set<string>(), idle: new Map(), unread: new Map() }
    states.set(folder, state)
    return state
  }
  const folders = yield* Effect.promise(() => foldersIn(directory))
  for (const { problem, tenantId } of folders.unreadable) {
    const state = stateOf(join(directory, tenantId), tenantId)
    if (state.problem !== problem) yield* Effect.logWarning(`EDI partners of a tenant not read: ${problem}`).pipe(Effect.annotateLogs({ tenant: tenantId }))
    state.problem = problem
  }
  for (const { partner, tenantId } of folders.partners) {
    const folder = join(directory, tenantId, partner)
    const state = stateOf(folder, tenantId)
    const profile = yield* Effect.promise(() => profileIn(folder))
    const problem = "problem" in profile
      ? profile.problem
      : yield* Effect.match(tenants.admit(tenantId), { onSuccess: (tenant) => Option.isSome(tenant) ? undefined : `There is no tenant ${tenantId}. Create it, or rename the folder ${join(directory, tenantId)}.`, onFailure: (error) => error.message })
    if (problem !== undefined && state.problem !== problem) {
      yield* Effect.logWarning(`EDI partner not read: ${problem}`).pipe(Effect.annotateLogs({ tenant: tenantId, partner }))
    }
    state.problem = problem
    if (problem === undefined && !("problem" in profile) && !state.isRunning) ready.push([{ tenantId, folder, profile }, state])
  }
  for (const [folder, { isRunning }] of states) if (!present.has(folder) && !isRunning) states.delete(folder)
  const now = yield* monotonicMillis
  const polls: Array<ReturnType<typeof pollPartner>> = []
  for (const [partner, state] of ready.sort(([, a], [, b]) => a.polledAt - b.polledAt)) {
    const running = [...states.values()].filter(({ isRunning }) => isRunning)
    if (running.length >= maxPolls || running.filter(({ tenantId }) => tenantId === partner.tenantId).length >= maxPollsOfTenant) continue
    state.isRunning = true
    state.polledAt = now
    polls.push(Effect.ensuring(pollPartner(partner, state, limits), Effect.sync(() => void (state.isRunning = false))))
  }
  return polls
})

/** A partner whose data cannot be stored or read now does not stop the others. */
const pollPartner = (partner: Partner, state: PartnerState, limits: EdiLimits) =>
  state.problems.logged(
    "poll",
    startSending(partner).pipe(
      Effect.andThen(removeOldFiles(partner, state, limits)),
      Effect.andThen(hasRoom(partner, state, limits)),
      Effect.flatMap((room) => room ? Effect.andThen(receiveOf(partner, state), sendTo(partner, state)) : Effect.void)
    ),
    (cause) => Effect.logError("EDI folder of a partner not checked, trying again.", cause).pipe(Effect.annotateLogs({ tenant: partner.tenantId, partner: partner.profile.partner }))
  )

/** Nothing is sent to a partner that takes no files away, and nothing is read from it, because each file would need an acknowledgement. It is logged once, until there is room. */
const hasRoom = Effect.fnUntraced(function*({ folder, profile, tenantId }: Partner, state: PartnerState, { maxWaitingFiles }: EdiLimits) {
  const wasFull = state.isFull
  state.isFull = yield* Effect.promise(() => isFull(folder, "outbox", maxWaitingFiles))
  if (state.isFull && !wasFull) {
    yield* Effect.logWarning("EDI partner not read and sent nothing, outbox full.").pipe(Effect.annotateLogs({ tenant: tenantId, partner: profile.partner, files: maxWaitingFiles }))
  }
  return !state.isFull
})

const removeOldFiles = Effect.fnUntraced(function*({ folder, profile, tenantId }: Partner, state: PartnerState, { keepMillis }: EdiLimits) {
  const now = yield* monotonicMillis
  if (now - state.cleanedAt < cleanUpMillis) return
  state.cleanedAt = now
  const before = (yield* Clock.currentTimeMillis) - keepMillis
  const removed = yield* Effect.promise(() => removeKept(folder, before))
  if (removed > 0) yield* Effect.logInfo("Old EDI files removed.").pipe(Effect.annotateLogs({ tenant: tenantId, partner: profile.partner, files: removed }))
})

const receiveOf = Effect.fnUntraced(function*(partner: Partner, state: PartnerState) {
  const { unread } = state
  const now = yield* monotonicMillis
  const skip = new Set([...unread].flatMap(([name, { dueAt }]) => dueAt > now ? [name] : []))
  const handlers = yield* handlersOf(partner)
  const files: Array<ReceivedFile | UnreadFile> = []
  let skipped: ReadonlyArray<SkippedEntry> = []
  // in `posted` are only files of processes that ended while they read them
  for (const transport of [directoryTransport(partner.folder, { onSkipped: (found) => skipped = found }), directoryTransport(partner.folder, { inbox: postedFolder, quietMillis: postedMillis })]) {
    yield* Effect.promise(() => receiveWaiting({ partner: partner.profile, transport, handlers, skip, onFile: (file) => files.push(file) }))
  }
  for (const file of files) {
    remember(unread, file, now)
    yield* logged(partner, file)
  }
  state.skipped = yield* logSkipped(state.skipped, skipped).pipe(Effect.annotateLogs({ tenant: partner.tenantId, partner: partner.profile.partner }))
})

const remember = (failed: Map<string, Unread>, file: ReceivedFile | UnreadFile, now: number) => {
  const failures = (failed.get(file.name)?.failures ?? 0) + 1
  failed.delete(file.name)
  if (!("error" in file)) return
  // the oldest is read again sooner
  if (failed.size >= maxUnread) failed.delete([...failed.keys()][0]!)
  failed.set(file.name, { failures, dueAt: now + Math.min(firstPauseMillis * 2 ** (failures - 1), maxPauseMillis) })
}

const logged = Effect.fnUntraced(function*({ profile, tenantId }: Partner, file: ReceivedFile | UnreadFile) {
  const audit = yield* AuditLog
  const fault = "error" in file ? undefined : file.report.faults[0] ?? file.report.refusal
  const refusal = "error" in file ? undefined : file.report.acknowledged.find(isRefusal)
  const log = "error" in file
    ? Effect.logError("EDI file not read, trying again.", file.error)
    : fault !== undefined
    ? Effect.logWarning("EDI file read, with faults.")
    : refusal !== undefined
    ? Effect.logWarning("EDI file read, with refusals by the partner.")
    : Effect.logInfo("EDI file read.")
  const fields = "error" in file ? {} : {
    accepted: file.report.accepted,
    duplicates: file.report.duplicates,
    refused: file.report.refused,
    ...fault === undefined ? {} : { fault: `${placeOf(fault)}: ${fault.detail}` },
    ...refusal === undefined ? {} : { partnerRefused: verdictText(refusal).slice(0, longestVerdict) }
  }
  yield* log.pipe(Effect.annotateLogs({ tenant: tenantId, partner: profile.partner, file: file.name, ...fields }))
  if ("error" in file) return
  const status = file.report.accepted + file.report.duplicates > 0 || file.report.refused === 0 && file.report.interchanges > 0 ? 200 : 400
  yield* audit.later(
    { actor: { kind: "client", name: clientOf(profile) }, address: undefined, action: "edi.receive", tenantId, object: { kind: "edi-file", id: file.name }, requestId: "" },
    { status }
  )
})
