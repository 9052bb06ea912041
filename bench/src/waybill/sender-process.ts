/** A process that sends signed requests of 1 KB over 64 connections: with Waybill's sender, with `undici.request`, or with plain sockets. */
import { WebhookSender } from "@waybill/core/delivery"
import { parseEgressAllow, WebhookSenderHttp } from "@waybill/http"
import { Context, Effect, Layer, Result, Scope } from "effect"
import { serve } from "../machine/Child.ts"
import { makePlainPost } from "../peers/PlainSocket.ts"
import { makePoster, signedHeaders } from "../peers/SignedPost.ts"
import { sampleBody } from "./SampleEvent.ts"

const [receiver, kind] = process.argv.slice(2) as [string, "waybill" | "undici" | "plain"]

const connections = 64
const bodies = Array.from({ length: 1000 }, (_, n) => Buffer.from(sampleBody(n)))

const makeWaybillPost = async (): Promise<(id: string, body: Uint8Array) => Promise<void>> => {
  const egress = Result.getOrThrow(parseEgressAllow("127.0.0.0/8"))
  const context = await Effect.runPromise(Layer.buildWithScope(WebhookSenderHttp.layer({ egress, requestsPerOrigin: connections }), Scope.makeUnsafe()))
  const { start } = Context.get(context, WebhookSender)
  const url = `${receiver}/hook`
  return (id, body) =>
    new Promise((resolve, reject) => {
      start({ owner: "bench", url, headers: signedHeaders(id, body), body: [body], deadlineMillis: 10_000 }, (outcome) => {
        if (outcome._tag === "Accepted") resolve()
        else reject(new Error(JSON.stringify(outcome)))
      })
    })
}

const posts = {
  waybill: makeWaybillPost,
  undici: async () => makePoster(receiver, { connections, sign: true }).post,
  plain: async () => makePlainPost(receiver, signedHeaders)
}
const post = await posts[kind]()

/** Microseconds of this process's processor time for each of `count` requests. */
const send = async (count: number): Promise<number> => {
  let next = 0
  const loop = async () => {
    while (next < count) {
      const n = next++
      await post(String(n).padStart(36, "0"), bodies[n % bodies.length]!)
    }
  }
  const before = process.cpuUsage()
  await Promise.all(Array.from({ length: connections }, loop))
  const { system, user } = process.cpuUsage(before)
  return (system + user) / count
}

const handlers = { send }

export type SenderHandlers = typeof handlers

serve(handlers)
