/** Questions that come together are answered together: one statement for all that wait, instead of one each. */
import { Deferred, Effect, Exit } from "effect"

/** Statements of one tenant under way at the same time; what comes meanwhile gathers for the next. */
const maxUnderWay = 4

const maxQuestionsPerStatement = 512

interface Waiting<Question, Answer, E> {
  readonly question: Question
  readonly answered: Deferred.Deferred<Answer, E>
}

interface TenantQueue<Question, Answer, E> {
  readonly waiting: Array<Waiting<Question, Answer, E>>
  underWay: number
}

/**
 * Asks one by one what `answerAll` answers in the order of its questions. What is asked is read after it was asked, never before.
 *
 * Statements run in fibers of their own, never in a caller's: one caller's transaction or interruption is nobody else's.
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
      // whoever asks within this turn of the loop goes along
      yield* Effect.yieldNow
      while (queue.waiting.length > 0) yield* answer(tenantId, queue.waiting.splice(0, maxQuestionsPerStatement))
      queue.underWay -= 1
      if (queue.underWay === 0) queues.delete(tenantId)
    })

    return (tenantId, question) =>
      Effect.suspend(() => {
        const answered = Deferred.makeUnsafe<Answer, E>()
        const queue = queues.get(tenantId) ?? { waiting: [], underWay: 0 }
        queues.set(tenantId, queue)
        queue.waiting.push({ question, answered })
        // with nothing under way it starts at once; beside others only when more has gathered meanwhile
        if (queue.underWay === 0 || (queue.underWay < maxUnderWay && queue.waiting.length > 1)) {
          queue.underWay += 1
          fork(drain(tenantId, queue))
        }
        return Deferred.await(answered)
      })
  })
