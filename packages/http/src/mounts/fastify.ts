/** The service as a Fastify plugin. Bodies stay unparsed for its routes only. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Readable } from "node:stream"
import { abortSignalOf, hasBody, pathOf, streamOnDemand, unresolvedTargetOf, wasRead, webRequestOf } from "../facade/NodeHandler.ts"
import type { Waybill } from "../facade/Waybill.ts"
import { checkMount, mountPathOf } from "./MountPath.ts"

/** The used members of Fastify's instance. */
export interface FastifyScope {
  readonly prefix: string
  removeAllContentTypeParsers(): unknown
  addContentTypeParser(type: string, options: object, parser: (request: never, payload: Readable, done: (error: Error | null, body?: unknown) => void) => void): unknown
  route(route: { method: Array<string>; url: string; handler: (request: FastifyCall, reply: FastifyAnswer) => Promise<unknown> }): unknown
}

/** The used members of a request. */
export interface FastifyCall {
  readonly raw: IncomingMessage
  /** Path and query, after `rewriteUrl`. */
  readonly url: string
  /** According to `trustProxy`. */
  readonly ip: string
  readonly body?: unknown
}

/** The used members of a reply. */
export interface FastifyAnswer {
  readonly raw: ServerResponse
  readonly sent: boolean
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

const streamWasRead =
  "The request's body was read before Waybill got the request: a preParsing hook, or a middleware such as express.json(). "
  + "Register toFastifyPlugin(waybill) in a scope without it, or let the hook return a stream of the same bytes."

/**
 * `app.register(toFastifyPlugin(waybill), { prefix: "/freight" })`. Below the prefix, hooks of the host run and its
 * parsers do not. `authenticate` gets Fastify's request as its second argument. Do not wrap it with fastify-plugin.
 */
export const toFastifyPlugin = (waybill: Pick<Waybill, "handler">) => {
  checkMount("toFastifyPlugin", waybill)
  return (scope: FastifyScope): Promise<void> => addTo(scope, waybill)
}

const addTo = async (scope: FastifyScope, waybill: Pick<Waybill, "handler">): Promise<void> => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser("*", {}, (_request, payload, done) => done(null, payload))
  scope.route({
    method: methods,
    url: "/*",
    handler: async (call, reply) => {
      const payload = call.body as Readable | undefined
      const unread = hasBody(call.raw) ? payload : undefined
      if (unread !== undefined && wasRead(unread)) throw Object.assign(new Error(streamWasRead), { statusCode: 500, code: "body_already_read" })
      const request = webRequestOf(call.raw, { target: call.url, body: unread && streamOnDemand(unread), isDecoded: unread !== undefined && unread !== call.raw, signal: abortSignalOf(reply.raw) })!
      const mountPath = mountPathOf(pathOf(call.url), scope.prefix)
      const response = await waybill.handler(request, { mountPath, remoteAddress: call.ip, host: call, target: unresolvedTargetOf(call.url) })
      // The host has answered meanwhile, such as by `handlerTimeout`. Fastify ignores a later answer, and leaves what its body holds.
      if (reply.sent) return await response.body?.cancel()
      // HTTP/2 has no such header, and Node refuses to send it.
      if (call.raw.httpVersionMajor > 1) response.headers.delete("connection")
      return response
    }
  })
}
