/** The ways in which mutants break an implementation. */
import { type Call, type Delivery, jsonReply, type Mutation, type Reply } from "./MutatingProxy.ts"

export type Json = any

export interface Mutant extends Mutation {
  readonly rule: string
  /** What is broken. */
  readonly name: string
  /** Part of what the rule reports, so that it fails for this reason. */
  readonly seen: string
}

export const isFor = (call: Call, method: string, path: RegExp): boolean => call.method === method && path.test(call.path)

/** Changes the JSON of successful answers. */
export const changing = (method: string, path: RegExp, change: (json: Json, call: Call) => Json): Mutation => ({
  answer: (reply, call) => isFor(call, method, path) && reply.status < 300 && reply.body !== "" ? { ...reply, body: JSON.stringify(change(JSON.parse(reply.body), call)) } : reply
})

/** Answers with another status. */
export const turning = (method: string, path: RegExp, from: number, to: number, json: Json = {}): Mutation => ({
  answer: (reply, call) => isFor(call, method, path) && reply.status === from ? (from >= 400 && to < 400 ? jsonReply(to, to === 204 ? undefined : json) : { ...reply, status: to }) : reply
})

/** Accepts what must be refused. */
export const accepting = (method: string, path: RegExp, json: Json = {}): Mutation => turning(method, path, 400, 200, json)

/** Answers calls instead of the service, which does not see them. */
export const answering = (method: string, path: RegExp, reply: Reply, when: (call: Call) => boolean = () => true): Mutation => ({
  call: (call) => isFor(call, method, path) && when(call) ? reply : call
})

export const withoutParameter = (method: string, path: RegExp, name: string): Mutation => ({
  call: (call) => {
    if (isFor(call, method, path)) call.query.delete(name)
    return call
  }
})

export const changingBody = (method: string, path: RegExp, change: (json: Json) => Json): Mutation => ({
  call: (call) => isFor(call, method, path) && call.body !== "" ? { ...call, body: JSON.stringify(change(JSON.parse(call.body))) } : call
})

/** Serves one client as if it were another. */
export const confusing = (from: "customer" | "other" | "nobody", to: "customer" | "carrier", path: RegExp, isConfused: (call: Call) => boolean = () => true): Mutation => ({
  call: (call, { clients }) => {
    const keyOf = (name: "customer" | "other" | "carrier") => (clients![name] as { readonly apiKey: string }).apiKey
    const isFrom = from === "nobody" ? call.headers["x-api-key"] === undefined || call.headers["x-api-key"].startsWith("not-a-valid") : call.headers["x-api-key"] === keyOf(from)
    return isFrom && path.test(call.path) && isConfused(call) ? { ...call, headers: { ...call.headers, "x-api-key": keyOf(to) } } : call
  }
})

export const answeringAs = (path: RegExp, type: string): Mutation => ({
  answer: (reply, call) => path.test(call.path) ? { ...reply, headers: { ...reply.headers, "content-type": type } } : reply
})

export const without = (json: Json, ...names: ReadonlyArray<string>): Json => Object.fromEntries(Object.entries(json).filter(([name]) => !names.includes(name)))

export const delivering = (change: (json: Json, nth: number) => Json): Mutation => ({ delivery: (delivery, nth) => ({ ...delivery, body: JSON.stringify(change(JSON.parse(delivery.body), nth)) }) })
export const withHeaders = (change: (headers: Delivery["headers"], nth: number) => Json): Mutation => ({ delivery: (delivery, nth) => ({ ...delivery, headers: change(delivery.headers, nth) }) })
