/** What checks expect of answers and deliveries. Each one throws `Violation` with the answer or the delivery. */
import { verifyDelivery, WebhookSecretUnusable } from "@waybill/client"
import { Result, Schema } from "effect"
import type { Post } from "./Callback.ts"
import type { Exchange } from "./ApiCaller.ts"
import { type RuleContext, Violation } from "./Rule.ts"

const pathOf = (url: string): string => URL.parse(url) === null ? url : new URL(url).pathname

export const callText = ({ method, url }: Exchange): string => `${method} ${pathOf(url)}`

export const expectStatus = (exchange: Exchange, ...wanted: ReadonlyArray<number>): Exchange => {
  if (!wanted.includes(exchange.status)) throw new Violation(`${callText(exchange)} answered ${exchange.status}; ${wanted.join(" or ")} is expected.`, exchange)
  return exchange
}

/** Expects an answer as to somebody else's, or an unknown, object. */
export const expectHidden = (exchange: Exchange): Exchange => expectStatus(exchange, 401, 403, 404)

/** Expects 401 without credentials, and with invalid ones. */
export const expectUnauthorized = async (...calls: ReadonlyArray<(as: "nobody" | "invalid") => Promise<Exchange>>): Promise<string> => {
  for (const as of ["nobody", "invalid"] as const) for (const call of calls) expectStatus(await call(as), 401)
  return "401"
}

/** Decodes a value. Unknown members are ignored. */
export const read = <S extends Schema.Codec<unknown, unknown>>(schema: S, value: unknown, what: string, evidence?: Exchange | Post): S["Type"] => {
  const decoded = Schema.decodeUnknownResult(schema)(value, { errors: "all" })
  if (Result.isSuccess(decoded)) return decoded.success
  throw new Violation(`${what} is not as the interface defines it: ${decoded.failure.message.replaceAll(/\s+/g, " ").slice(0, 500)}.`, evidence)
}

const mediaTypeOf = (header: string | null | undefined): string => (header ?? "").split(";")[0]!.trim().toLowerCase()

/** Expects a JSON answer with one of the statuses and this shape. */
export const expectJson = <S extends Schema.Codec<unknown, unknown>>(exchange: Exchange, schema: S, ...statuses: ReadonlyArray<number>): S["Type"] => {
  expectStatus(exchange, ...statuses)
  const type = mediaTypeOf(exchange.headers.get("content-type"))
  if (type !== "application/json") throw new Violation(`${callText(exchange)} answered with the content type ${type === "" ? "none" : type}; application/json is expected.`, exchange)
  return read(schema, exchange.json, `The answer to ${callText(exchange)}`, exchange)
}

/** The answer of a call, as `expectJson` expects it, and its exchange. */
export const jsonAnswer = async <S extends Schema.Codec<unknown, unknown>>(call: Promise<Exchange>, schema: S, ...statuses: ReadonlyArray<number>): Promise<readonly [S["Type"], Exchange]> => {
  const exchange = await call
  return [expectJson(exchange, schema, ...statuses), exchange]
}

export const expectEqual = (is: unknown, wanted: unknown, what: string, evidence?: Exchange | Post): void => {
  const [one, other] = [JSON.stringify(is), JSON.stringify(wanted)]
  if (one !== other) throw new Violation(`${what} is ${shortened(one)}; ${shortened(other)} is expected.`, evidence)
}

const shortened = (text: string | undefined): string => text === undefined ? "missing" : text.length > 200 ? `${text.slice(0, 200)}…` : text

/** Expects that all of them are refused, and says which were not. */
export const expectEachRefused = async (calls: ReadonlyArray<readonly [what: string, call: () => Promise<Exchange>]>): Promise<string> => {
  for (const [what, call] of calls) {
    const exchange = await call()
    if (exchange.status !== 400 && exchange.status !== 422) throw new Violation(`${callText(exchange)} with ${what} answered ${exchange.status}; 400 is expected.`, exchange)
  }
  return `refused ${calls.map(([what]) => what).join(", ")}`
}

/** The text without some members, one after the other. */
export const withoutEach = <B extends object>(body: B, names: ReadonlyArray<keyof B & string>): ReadonlyArray<readonly [string, Partial<B>]> =>
  names.map((name) => [`no ${name}`, Object.fromEntries(Object.entries(body).filter(([each]) => each !== name)) as Partial<B>])

/** The JSON of a delivery. */
export const jsonOf = (post: Post): unknown => {
  if (post.method !== "POST") throw new Violation(`A delivery came as ${post.method}; POST is expected.`, post)
  const type = mediaTypeOf(post.headers["content-type"])
  if (type !== "application/json") throw new Violation(`A delivery came with the content type ${type === "" ? "none" : type}; application/json is expected.`, post)
  try {
    return JSON.parse(Buffer.from(post.body).toString("utf8"))
  } catch {
    throw new Violation("The body of a delivery is not JSON.", post)
  }
}

/** Expects valid Standard Webhooks signatures at the time of receipt. */
export const expectSigned = async ({ fixtures }: RuleContext, posts: ReadonlyArray<Post>): Promise<string> => {
  if (posts.length === 0) throw new Violation("Nothing came to a subscription that names a secret.")
  for (const post of posts) {
    try {
      await verifyDelivery({ secrets: [fixtures.webhook!.secret], headers: post.headers, body: post.body, now: new Date(post.at) })
    } catch (error) {
      if (error instanceof WebhookSecretUnusable) throw error
      throw new Violation(`The signature of a delivery is invalid: ${error instanceof Error ? error.message : String(error)}`, post)
    }
  }
  return `${posts.length} valid signatures`
}

/** Expects that the failed first attempt came again with the same id and the same bytes. */
export const expectRepeated = (posts: ReadonlyArray<Post>): string => {
  const failed = posts.filter(({ answer }) => answer !== 200)
  if (failed.length === 0) throw new Violation("No delivery came that could be refused.")
  for (const first of failed) {
    const again = posts.find((post) => post !== first && post.at >= first.at && post.answer === 200 && Buffer.compare(post.body, first.body) === 0)
    const sameId = posts.find((post) => post !== first && post.answer === 200 && post.headers["webhook-id"] !== undefined && post.headers["webhook-id"] === first.headers["webhook-id"])
    if (again === undefined && sameId === undefined) throw new Violation(`A delivery that ${first.answer === "drop" ? "was cut off" : `was answered ${first.answer}`} did not come again.`, first)
    if (again === undefined) throw new Violation(`A delivery came again under the same webhook-id with another body.`, sameId)
    if (again.headers["webhook-id"] !== first.headers["webhook-id"]) {
      throw new Violation(`The webhook-id was ${first.headers["webhook-id"]}, and ${again.headers["webhook-id"]} when the delivery came again.`, again)
    }
  }
  return `${failed.length} came again`
}

export const expectSilent = (posts: ReadonlyArray<Post>, why: string): string => {
  if (posts.length > 0) throw new Violation(`A delivery came, although ${why}.`, posts[0])
  return "nothing came"
}

export const accepted = (posts: ReadonlyArray<Post>): ReadonlyArray<Post> => posts.filter(({ answer }) => answer === 200)

/** A date, or a date-time. */
export const DateText = Schema.String.check(Schema.isPattern(/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/u, { message: "a date or a date-time" }))

export const orNull = <S extends Schema.Top>(schema: S) => Schema.NullOr(schema)
export const optional = <S extends Schema.Top>(schema: S) => Schema.optionalKey(schema)
export const Message = Schema.Struct({ message: Schema.String })
