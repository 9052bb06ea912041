/** The service as route handlers of Next's app router. */
import type { Waybill } from "../facade/Waybill.ts"
import { checkMount, mountPathBefore } from "./MountPath.ts"

/** Second argument of a route handler. Before Next 15 `params` was not a promise, which works too. */
export interface NextRoute {
  readonly params: Promise<Record<string, string | Array<string> | undefined>>
}

/** A route handler of Next, for `export const GET = …` and the other methods. */
export type NextHandler = (request: Request, route: NextRoute) => Promise<Response>

/** One function per HTTP method of the service. */
export type NextHandlers = Readonly<Record<"GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS", NextHandler>>

/**
 * For `app/freight/[...path]/route.ts`: `export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } =
 * toNextHandlers(waybill)`. The mount path is the folder of the catch-all. `authenticate` gets Next's request as its
 * second argument.
 */
export const toNextHandlers = (waybill: Pick<Waybill, "handler">): NextHandlers => {
  checkMount("toNextHandlers", waybill)
  const handler: NextHandler = async (request, { params }) => {
    const catchAll = Object.values(await params).find((value) => Array.isArray(value))
    if (catchAll === undefined) throw new Error("toNextHandlers(waybill) must be in a catch-all route, such as app/freight/[...path]/route.ts.")
    return waybill.handler(request, { mountPath: mountPathBefore(new URL(request.url).pathname, catchAll.length), host: request })
  }
  return { GET: handler, HEAD: handler, POST: handler, PUT: handler, PATCH: handler, DELETE: handler, OPTIONS: handler }
}
