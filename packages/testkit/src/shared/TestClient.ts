/** A fake database client of the host, whose transactions memory storage joins. */
import { checkOptions, type OptionKinds, optionKinds } from "@waybill/core"
import { Context, Effect, Layer, Semaphore } from "effect"
import { MemoryDatabase, type OpenTransaction } from "./MemoryDatabase.ts"
import { realScheduler } from "./RealScheduler.ts"

/** Rows by column name. */
export type TestRows = ReadonlyArray<Readonly<Record<string, unknown>>>

/** Answers of a test client. */
export interface TestClientOptions {
  /** The rows of the host's own statements; none by default. */
  readonly rows?: (text: string, values: ReadonlyArray<unknown>) => TestRows
}

/** A statement that the host ran. */
export interface TestStatement {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

/** What a statement answers. */
export interface TestResult {
  readonly rows: TestRows
  readonly rowCount: number
}

/**
 * Takes statements like a client of `pg`. `BEGIN`, `COMMIT`, `ROLLBACK` and savepoints apply to memory storage; all other statements are
 * only recorded.
 */
export interface TestClient {
  readonly query: (statement: string | { readonly text: string; readonly values?: ReadonlyArray<unknown> }, values?: ReadonlyArray<unknown>) => Promise<TestResult>
  /** Does nothing. */
  readonly release: () => void
  /** Every statement, in order. */
  readonly statements: ReadonlyArray<TestStatement>
  /** Part of the type of a `pg` client. */
  readonly getTypeParser: () => unknown
}

/** `Client` names the type that the host's code takes, such as `pg.PoolClient`; only the members of `TestClient` exist. */
export const testClient = <Client extends object = object>(options: TestClientOptions = {}): TestClient & Client => {
  checkOptions("testClient", options, { rows: optionKinds.function } satisfies OptionKinds<TestClientOptions>)
  return new MemoryClient(options, () => true) as unknown as TestClient & Client
}

/** For statements inside a transaction that is not the client's own, while `isOpen`. */
export const clientInside = (isOpen: () => boolean): TestClient => new MemoryClient({}, isOpen)

type Database = MemoryDatabase["Service"]

interface Savepoint {
  readonly name: string
  /** The position of each joined database. */
  readonly marks: ReadonlyMap<Database, number>
}

interface Joined extends OpenTransaction {
  /** Runs after the end of the transaction. */
  readonly ended: () => Promise<void>
}

interface Begun {
  readonly joined: Map<Database, Joined>
  readonly savepoints: Array<Savepoint>
}

const notOpen = "The transaction given to within(tx) is over, or never began. Call within(tx) inside it, and await the call before it ends."

/** The statements that control a transaction, with the name of the savepoint. */
const controls = {
  begin: /^(?:begin|start\s+transaction)\b/i,
  commit: /^(?:commit|end)\b/i,
  rollbackTo: /^rollback(?:\s+work|\s+transaction)?\s+to(?:\s+savepoint)?\s+(\S+)/i,
  rollback: /^(?:rollback|abort)\b/i,
  savepoint: /^savepoint\s+(\S+)/i,
  release: /^release(?:\s+savepoint)?\s+(\S+)/i
} as const

const controlOf = (text: string): readonly [keyof typeof controls, string] | undefined => {
  const statement = text.trim().replace(/;$/, "")
  for (const [control, pattern] of Object.entries(controls)) {
    const found = pattern.exec(statement)
    if (found !== null) return [control as keyof typeof controls, found[1] ?? ""]
  }
  return undefined
}

class MemoryClient implements TestClient {
  readonly statements: Array<TestStatement> = []
  readonly #rows: NonNullable<TestClientOptions["rows"]>
  readonly #turn = Semaphore.makeUnsafe(1)
  #begun: Begun | undefined

  readonly #isUsable: () => boolean

  constructor({ rows = () => [] }: TestClientOptions, isUsable: () => boolean) {
    this.#rows = rows
    this.#isUsable = isUsable
  }

  readonly query: TestClient["query"] = async (statement, given = []) => {
    if (!this.#isUsable()) throw new Error("The transaction is over. Await every statement before the desk answers.")
    const { text, values = given } = typeof statement === "string" ? { text: statement } : statement
    this.statements.push({ text, values })
    const control = controlOf(text)
    if (control === undefined) {
      const rows = this.#rows(text, values)
      return { rows, rowCount: rows.length }
    }
    const ended = await Effect.runPromise(this.#turn.withPermits(1)(this.#apply(...control)), { scheduler: realScheduler })
    for (const each of ended) await each.ended()
    return { rows: [], rowCount: 0 }
  }

  readonly release = (): void => {}

  readonly getTypeParser = (): unknown => undefined

  /** Calls run one after the other, like statements of a client. */
  join<A, E, R>(database: Database, ended: () => Promise<void>, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return this.#turn.withPermits(1)(Effect.suspend(() => {
      const { joined } = this.#begun ?? {}
      if (joined === undefined) return Effect.die(new Error(notOpen))
      const open = joined.get(database)
      if (open !== undefined) return open.join(effect)
      return Effect.flatMap(database.begin, (begun) => {
        joined.set(database, { ...begun, ended })
        return begun.join(effect)
      })
    }))
  }

  /** Returns the transactions that have ended. Like Postgres, it ignores an end without a beginning. */
  #apply(control: keyof typeof controls, name: string): Effect.Effect<ReadonlyArray<Joined>> {
    return Effect.suspend(() => {
      if (control === "begin") this.#begun ??= { joined: new Map(), savepoints: [] }
      const begun = this.#begun
      if (begun === undefined) return Effect.succeed([])
      const { joined, savepoints } = begun
      switch (control) {
        case "commit":
        case "rollback": {
          this.#begun = undefined
          return Effect.as(Effect.forEach(joined.values(), (open) => open[control]), [...joined.values()])
        }
        case "savepoint":
          savepoints.push({ name, marks: new Map([...joined].map(([database, open]) => [database, open.mark()])) })
          break
        case "release":
          savepoints.length = placeOf(savepoints, name)
          break
        case "rollbackTo": {
          const place = placeOf(savepoints, name)
          savepoints.length = place + 1
          for (const [database, open] of joined) open.rewindTo(savepoints[place]!.marks.get(database) ?? 0)
        }
      }
      return Effect.succeed([])
    })
  }
}

/** The latest savepoint with this name. */
const placeOf = (savepoints: ReadonlyArray<Savepoint>, name: string): number => {
  const place = savepoints.findLastIndex((each) => each.name === name)
  if (place < 0) throw new Error(`savepoint ${name} does not exist`)
  return place
}

/** Joins transactions of test clients. */
export class HostTransactions extends Context.Service<HostTransactions, {
  readonly join: <A, E, R>(client: object, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** `COMMIT` and `ROLLBACK` of a joined transaction wait for this. */
  readonly afterEnd: (work: () => Promise<void>) => void
  /** Rolls back transactions that a test left open. */
  readonly abandon: Effect.Effect<void>
}>()("@waybill/testkit/shared/HostTransactions") {
  static readonly layer = Layer.effect(
    HostTransactions,
    Effect.map(MemoryDatabase, (database) => {
      let ended = async (): Promise<void> => {}
      return HostTransactions.of({
        join: (client, effect) => (client as MemoryClient).join(database, () => ended(), effect),
        afterEnd: (work) => {
          ended = work
        },
        abandon: database.abandon
      })
    })
  )

  /** For storages: joins the transaction of the client, if it is one of `testClient`. */
  static readonly joined = (client: object) => {
    if (!(client instanceof MemoryClient)) {
      throw new TypeError("Over memory storage, within(tx) takes a client of testClient() that has sent BEGIN.")
    }
    return <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.flatMap(Effect.context<never>(), (context) =>
        Context.get(context as Context.Context<HostTransactions>, HostTransactions).join(client, effect))
  }
}
