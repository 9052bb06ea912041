/** Records the statements that a client sends, with the values of their first use, so that they can be explained afterwards. */
import { Effect, Layer } from "effect"
import { textParameters } from "../../src/client/PgParameters.ts"
import { PgClient, type Sql } from "../../src/index.ts"

type Sent = Pick<Sql.Statement, "text" | "values">

/** EXPLAIN refuses parameters in some statements. Values are sent as text without a type, which quoted text in the statement is, too. */
export const withoutParameters = ({ text, values }: Sent): string => {
  const literals = textParameters(values).map((value) => {
    if (value instanceof Uint8Array) return `'\\x${Buffer.from(value).toString("hex")}'::bytea`
    return value === null ? "NULL" : `'${String(value).replaceAll("'", "''")}'`
  })
  return text.replaceAll(/\$(\d+)/g, (_, number) => literals[Number(number) - 1]!)
}

export const sentStatements = () => {
  const sent = new Map<string, Sent>()
  const recording = (client: PgClient.PgClient): PgClient.PgClient =>
    new Proxy(client, {
      get: (target, name) => {
        const value = Reflect.get(target, name)
        if (name !== "rows" && name !== "one" && name !== "run") return value
        return (...given: ReadonlyArray<unknown>) => {
          const statement = given.at(-1) as Sql.Statement
          if (!sent.has(statement.text)) sent.set(statement.text, { text: statement.text, values: statement.values })
          return (value as (...given: ReadonlyArray<unknown>) => unknown)(...given)
        }
      }
    })
  return {
    statements: () => [...sent.values()],
    layer: Layer.effect(PgClient.PgClient, Effect.map(PgClient.PgClient, recording))
  }
}
