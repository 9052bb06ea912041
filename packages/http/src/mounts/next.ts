/** The service as route handlers of Next's app router. */
import type { Waybill } from "../facade/Waybill.ts"
import { checkMount, mountPathBefore, mountPathKind } from "./MountPath.ts"

/** Second argument of a route handler. Before Next 15 `params` was not a promise, which works too. */
export interface NextRoute {
  readonly params: Promise<Record<string, string | Array<string> | undefined>>
}

/** A route handler of Next, for `export const GET = …` and the other methods. */
export type NextHandler = (request: Request, route: NextRoute) => Promise<Response>

/** What route handlers cannot see of Next's configuration. */
export interface NextHandlersOptions {
  /** `basePath` of next.config, such as `/tms`: Next removes it from the URL of the request. */
  readonly basePath?: string
}

/** One function per HTTP method of the service. */
export type NextHandlers = Readonly<Record<"GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS", NextHandler>>

/**
 * For `app/freight/[...path]/route.ts`: `export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } =
 * toNextHandlers(waybill)`. The mount path is the folder of the catch-all. `authenticate` gets Next's request as its
 * second argument.
 */
export const toNextHandlers = (waybill: Pick<Waybill, "handler">, options: NextHandlersOptions = {}): NextHandlers => {
  checkMount("toNextHandlers", waybill, options, { basePath: mountPathKind })
  const { basePath = "" } = options
  const handler: NextHandler = async (request, { params }) => {
    const values = Object.values((await params) ?? {})
    // an optional catch-all has none at the path of its folder
    const catchAll = values.find((value) => Array.isArray(value)) ?? (values.some((value) => value !== undefined) ? undefined : [])
    if (catchAll === undefined) throw new Error("toNextHandlers(waybill) must be in a catch-all route, such as app/freight/[...path]/route.ts.")
    const { pathname, search } = new URL(request.url)
    const folder = mountPathBefore(pathname, catchAll.length)
    return waybill.handler(request, { mountPath: `${basePath}${folder}`, target: `${pathname.slice(folder.length) || "/"}${search}`, host: request })
  }
  return { GET: handler, HEAD: handler, POST: handler, PUT: handler, PATCH: handler, DELETE: handler, OPTIONS: handler }
}
