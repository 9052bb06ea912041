/** The service as a Hono handler, on any of its runtimes. */
import { optionKinds } from "@waybill/core"
import type { Waybill } from "../facade/Waybill.ts"
import { checkMount, mountPathKind, mountPathOf } from "./MountPath.ts"

/** The used members of Hono's context. */
export interface HonoContext {
  readonly req: {
    readonly raw: Request
    /** The matched route, such as `/freight/*`. */
    readonly routePath?: string
    /** Bodies that were read through Hono, by type. */
    readonly bodyCache: object
    arrayBuffer(): Promise<ArrayBuffer>
  }
  readonly env: unknown
}

/** Where the handler is mounted, and how it finds the address of a caller. */
export interface HonoHandlerOptions {
  /** The mount path. Default: from Hono's route. */
  readonly mountPath?: string
  /** Remote address of the connection; public lookups are counted by it. Known by default on `@hono/node-server`. */
  readonly remoteAddress?: (context: HonoContext) => string | undefined
}

/**
 * `app.all("/freight/*", toHonoHandler(waybill))`. A body that a validator or `c.req.json()` has read is restored from
 * Hono's cache; uploads are then in memory as a whole. `authenticate` gets Hono's context as its second argument.
 */
export const toHonoHandler = (waybill: Pick<Waybill, "handler">, options: HonoHandlerOptions = {}) => {
  checkMount("toHonoHandler", waybill, options, { mountPath: mountPathKind, remoteAddress: optionKinds.function })
  return (context: HonoContext): Promise<Response> => answer(waybill, options, context)
}

const answer = async (waybill: Pick<Waybill, "handler">, options: HonoHandlerOptions, context: HonoContext): Promise<Response> => {
  const { raw, routePath } = context.req
  const mounted = options.mountPath ?? routePath
  if (mounted === undefined) throw new Error("This version of Hono does not provide the route. Pass toHonoHandler(waybill, { mountPath: \"/freight\" }).")
  return waybill.handler(await unread(context), {
    mountPath: mountPathOf(new URL(raw.url).pathname, mounted),
    remoteAddress: options.remoteAddress === undefined ? nodeAddressOf(context.env) : options.remoteAddress(context),
    host: context
  })
}

const unread = async ({ req }: HonoContext): Promise<Request> => {
  const { headers, method, signal, url } = req.raw
  // A parsed form cannot be restored; no call here accepts one.
  if (!req.raw.bodyUsed || Object.keys(req.bodyCache).every((form) => form === "formData" || form === "parsedBody")) return req.raw
  return new Request(url, { method, headers, signal, body: await req.arrayBuffer() })
}

/** The remote address on `@hono/node-server`. */
const nodeAddressOf = (env: unknown): string | undefined => {
  const { incoming, server } = (env ?? {}) as NodeBindings
  return (server?.incoming ?? incoming)?.socket?.remoteAddress
}

interface NodeBindings {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } }
  readonly server?: NodeBindings
}
