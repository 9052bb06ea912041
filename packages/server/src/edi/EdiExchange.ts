/**
 * Fetches files from partners' servers and sends files there, for every partner whose profile has a transport. A partner that cannot be reached is
 * tried again with growing pauses, and does not delay others.
 */
import { monotonicMillis, Tenants } from "@waybill/core"
import { WebhookSender } from "@waybill/core/delivery"
import { directoryTransport, type ExchangedFile, exchangeFiles, type EdiMailbox, type FailedFile, isFull, MailboxError, type SkippedEntry } from "@waybill/edi/transports"
import { Effect, Metric, Option } from "effect"
import * as Semaphore from "effect/Semaphore"
import { join } from "node:path"
import { messageOf } from "../ErrorMessage.ts"
import { mailboxOf, type Post, postWith } from "./EdiMailboxes.ts"
import { EdiProblems, logSkipped } from "./EdiProblems.ts"
import { defaultEdiLimits, type EdiLimits, foldersIn, type Partner, profileIn } from "./EdiPartners.ts"

const defaultEverySeconds = 60
/** Pause before the next try of a partner that cannot be reached, unless its own is longer. */
const maxPauseSeconds = 15 * 60
/** Connections at once. */
const maxExchanges = 16
/** Pause between two polls. */
const pollMillis = 1_000

const filesTotal = Metric.counter("waybill_edi_files_total", { description: "EDI files that were fetched from partners or sent to them, by direction.", incremental: true })
const failuresTotal = Metric.counter("waybill_edi_exchange_failures_total", { description: "Exchanges of EDI files that failed, by problem.", incremental: true })

/** The state of a partner between two exchanges. */
interface PartnerState {
  /** In `monotonicMillis`. */
  dueAt: number
  isRunning: boolean
  failures: number
  problem: string | undefined
  /** Problems of files, which are logged once until they change. */
  refused: ReadonlySet<string>
  /** Entries of the partner's folder that the last exchange skipped. */
  found: ReadonlyArray<SkippedEntry>
  /** Those that are in the log. */
  skipped: ReadonlySet<string>
  /** Whether too many files wait in the inbox. */
  isFull: boolean
  mailbox: { readonly version: string; readonly mailbox: EdiMailbox } | undefined
}

export type PartnerStates = Map<string, PartnerState>

/** Runs until interrupted; then files on their way wait again. */
export const runEdiExchange = (directory: string, limits: EdiLimits): Effect.Effect<never, never, Tenants | WebhookSender> =>
  Effect.scoped(Effect.gen(function*() {
    const states: PartnerStates = new Map()
    const permits = yield* Semaphore.make(maxExchanges)
    const problems = new EdiProblems()
    const poll = dueExchanges(directory, states, limits).pipe(
      Effect.flatMap((due) => Effect.forEach(due, (exchange) => Effect.forkScoped(permits.withPermit(exchange)), { discard: true }))
    )
    return yield* problems.logged("poll", poll, (cause) => Effect.logError("EDI exchange with partners failed, trying again.", cause)).pipe(
      Effect.andThen(Effect.sleep(pollMillis)),
      Effect.forever
    )
  }))

/** One exchange for each partner that is due. The caller runs them. */
export const dueExchanges = Effect.fnUntraced(function*(directory: string, states: PartnerStates, limits: EdiLimits = defaultEdiLimits) {
  const tenants = yield* Tenants
  const post = postWith(yield* WebhookSender)
  const now = yield* monotonicMillis
  const due: Array<Effect.Effect<void>> = []
  const present = new Set<string>()
  for (const { partner, tenantId } of (yield* Effect.promise(() => foldersIn(directory))).partners) {
    const folder = join(directory, tenantId, partner)
    present.add(folder)
    const state = states.get(folder) ?? { dueAt: 0, isRunning: false, failures: 0, problem: undefined, refused: new Set<string>(), found: [], skipped: new Set<string>(), isFull: false, mailbox: undefined }
    states.set(folder, state)
    if (state.isRunning || state.dueAt > now) continue
    const profile = yield* Effect.promise(() => profileIn(folder))
    // the reader of the directory logs what is wrong with a folder
    if ("problem" in profile || profile.transport === undefined) continue
    if (!(yield* Effect.match(tenants.admit(tenantId), { onSuccess: Option.isSome, onFailure: () => false }))) continue
    state.isRunning = true
    due.push(exchangeWith({ tenantId, folder, profile }, state, { post, ...limits }))
  }
  for (const folder of states.keys()) if (!present.has(folder)) states.delete(folder)
  return due
})

/** Limits, and how files are posted. */
interface ExchangeLimits extends EdiLimits {
  readonly post: Post
}

const exchangeWith = Effect.fnUntraced(function*(partner: Partner, state: PartnerState, limits: ExchangeLimits) {
  const { everySeconds = defaultEverySeconds } = partner.profile.transport ?? {}
  const files: Array<ExchangedFile | FailedFile> = []
  const wasFull = state.isFull
  const failure = yield* exchanged(partner, state, limits, files)
  if (state.isFull && !wasFull) yield* Effect.logWarning("EDI files not fetched from a partner, inbox full.").pipe(Effect.annotateLogs({ files: limits.maxWaitingFiles }))
  state.failures = failure === undefined ? 0 : state.failures + 1
  const pause = Math.max(everySeconds, Math.min(everySeconds * 2 ** state.failures, maxPauseSeconds))
  state.dueAt = (yield* monotonicMillis) + (failure === undefined ? everySeconds : pause) * 1000
  state.isRunning = false
  const before = state.refused
  state.refused = new Set(files.flatMap((file) => "error" in file ? [problemOf(file)] : []))
  for (const file of files) if (!("error" in file) || !before.has(problemOf(file))) yield* logged(file)
  state.skipped = yield* logSkipped(state.skipped, state.found)
  yield* reachability(state, failure)
}, (effect, { profile, tenantId }) => Effect.annotateLogs(effect, { tenant: tenantId, partner: profile.partner }))

/** The failure of the whole exchange. Ends early, and in order, when interrupted. */
const exchanged = ({ folder, profile }: Partner, state: PartnerState, { maxWaitingFiles, post }: ExchangeLimits, files: Array<ExchangedFile | FailedFile>): Effect.Effect<unknown> =>
  Effect.callback((resume) => {
    const stop = new AbortController()
    const running = (async () => {
      const source = await mailboxOf(folder, profile.transport!, post)
      if (source === undefined) return
      if (state.mailbox?.version !== source.version) state.mailbox = { version: source.version, mailbox: source.open((found) => state.found = found) }
      state.isFull = await isFull(folder, "inbox", maxWaitingFiles)
      await exchangeFiles({ mailbox: state.mailbox.mailbox, spool: directoryTransport(folder), receive: !state.isFull, signal: stop.signal, onFile: (file) => files.push(file) })
    })().then(() => undefined, (error: unknown) => error ?? new Error("The exchange failed."))
    void running.then((failure) => resume(Effect.succeed(failure)))
    return Effect.promise(() => {
      stop.abort()
      return running
    })
  })

const problemOf = ({ direction, error, name }: FailedFile): string => `${direction} ${name}: ${messageOf(error)}`

const logged = (file: ExchangedFile | FailedFile): Effect.Effect<void> =>
  "error" in file
    ? Effect.logWarning("EDI file not exchanged, trying again.").pipe(Effect.annotateLogs({ file: file.name, direction: file.direction, error: messageOf(file.error) }))
    : Effect.logInfo("EDI file exchanged.").pipe(
      Effect.annotateLogs({ file: file.name, direction: file.direction }),
      Effect.andThen(Metric.update(Metric.withAttributes(filesTotal, { direction: file.direction }), 1))
    )

/** A problem is logged once, until it changes. */
const reachability = Effect.fnUntraced(function*(state: PartnerState, failure: unknown) {
  const before = state.problem
  state.problem = failure === undefined ? undefined : messageOf(failure)
  if (failure === undefined) {
    if (before !== undefined) yield* Effect.logInfo("EDI partner reachable again.")
    return
  }
  const problem = failure instanceof MailboxError ? failure.problem : "other"
  yield* Metric.update(Metric.withAttributes(failuresTotal, { problem }), 1)
  if (before !== state.problem) yield* Effect.logError("EDI partner not reachable, trying again.").pipe(Effect.annotateLogs({ problem, error: state.problem }))
})
