/** Batches concurrent requests: one storage statement answers all requests that wait, instead of one statement each. */
import { Deferred, Effect, Exit } from "effect"

/** Limit of statements in flight per tenant. Requests that arrive meanwhile wait for the next batch. */
const maxInFlight = 4

const maxBatchSize = 512

interface Waiting<Question, Answer, E> {
  readonly question: Question
  readonly answered: Deferred.Deferred<Answer, E>
}

interface TenantQueue<Question, Answer, E> {
  readonly waiting: Array<Waiting<Question, Answer, E>>
  inFlight: number
}

/**
 * Returns a function that asks one question. `answerAll` answers a batch, in the order of its questions. It always starts after the
 * question was asked, so an answer is never older than its question.
 *
 * Batches run in their own fibers. A caller's transaction or interruption does not affect other callers.
 */
export const makeRequestBatcher = <Question, Answer, E>(
  answerAll: (tenantId: string, questions: ReadonlyArray<Question>) => Effect.Effect<ReadonlyArray<Answer>, E>
): Effect.Effect<(tenantId: string, question: Question) => Effect.Effect<Answer, E>> =>
  Effect.map(Effect.context<never>(), (context) => {
    const fork = Effect.runForkWith(context)
    const queues = new Map<string, TenantQueue<Question, Answer, E>>()

    const answer = Effect.fnUntraced(function*(tenantId: string, batch: ReadonlyArray<Waiting<Question, Answer, E>>) {
      const exit = yield* Effect.exit(answerAll(tenantId, batch.map((each) => each.question)))
      batch.forEach(({ answered }, at) => Deferred.doneUnsafe(answered, Exit.map(exit, (answers) => answers[at]!)))
    })

    const drain = Effect.fnUntraced(function*(tenantId: string, queue: TenantQueue<Question, Answer, E>) {
      // requests made in the same turn of the event loop join this batch
      yield* Effect.yieldNow
      while (queue.waiting.length > 0) yield* answer(tenantId, queue.waiting.splice(0, maxBatchSize))
      queue.inFlight -= 1
      if (queue.inFlight === 0) queues.delete(tenantId)
    })

    return (tenantId, question) =>
      Effect.suspend(() => {
        const answered = Deferred.makeUnsafe<Answer, E>()
        const queue = queues.get(tenantId) ?? { waiting: [], inFlight: 0 }
        queues.set(tenantId, queue)
        queue.waiting.push({ question, answered })
      // an idle queue starts at once; another statement starts only when more than one request waits
        if (queue.inFlight === 0 || (queue.inFlight < maxInFlight && queue.waiting.length > 1)) {
          queue.inFlight += 1
          fork(drain(tenantId, queue))
        }
        return Deferred.await(answered)
      })
  })
