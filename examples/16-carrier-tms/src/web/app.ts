/** The TMS as one Fastify application: its own pages, Waybill's interfaces, and the portal of customers. */
import { type Waybill, WaybillError } from "@waybill/http"
import { toFastifyPlugin } from "@waybill/http/fastify"
import { fastify, type FastifyError, type FastifyInstance, type FastifyRequest } from "fastify"
import { openPortalPage } from "waybill/portal"
import { type User, userOf } from "../accounts/sessions.ts"
import type { Database } from "../database/connect.ts"
import { carrier, clientOf } from "../freight/principals.ts"
import type { Transact } from "../freight/transact.ts"
import { Refused } from "../shipments/dispatch.ts"
import { customerPages } from "./customerPages.ts"
import { dispatchPages } from "./dispatchPages.ts"
import { html } from "./html.ts"
import { loginPages, sessionTokenOf } from "./loginPages.ts"
import { sendPage, style } from "./page.ts"

declare module "fastify" {
  interface FastifyRequest {
    currentUser: User | undefined
  }
}

/** What the application is made of, so that tests replace Waybill and its transaction. */
export interface Parts {
  readonly database: Database
  readonly waybill: Waybill
  readonly transact: Transact
  /** Whether browsers use https. */
  readonly secureCookies: boolean
  readonly log: boolean
  readonly isStopping: () => boolean
}

export const buildApp = async (parts: Parts): Promise<FastifyInstance> => {
  const { database, isStopping, waybill } = parts
  const app = fastify({ logger: parts.log ? { level: "info", redact: ["req.headers.cookie"] } : false, bodyLimit: 64 * 1024 })
  app.addContentTypeParser("application/x-www-form-urlencoded", { parseAs: "string" }, (_request, text, done) => done(null, Object.fromEntries(new URLSearchParams(text as string))))

  app.decorateRequest("currentUser", undefined)
  app.addHook("onRequest", async (request) => {
    if (isCrossSiteWrite(request)) throw new Refused("This form was sent from a page of another site.", 403)
    const token = sessionTokenOf(request)
    if (token !== undefined) request.currentUser = await userOf(database, token, new Date())
  })
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const { message, status } = answerTo(error)
    if (status >= 500) request.log.error(error)
    return sendPage(reply, { title: status >= 500 ? "Something went wrong" : "Not possible", user: request.currentUser, body: html`<p role="alert">${message}</p>` }, status)
  })
  app.setNotFoundHandler((request, reply) => sendPage(reply, { title: "Not found", user: request.currentUser, body: html`<p>There is nothing at this address.</p>` }, 404))

  // probes of the load balancer
  app.get("/healthz", async () => "ok")
  app.get("/readyz", async (_request, reply) => {
    if (isStopping()) return reply.code(503).send("stopping")
    const { status } = await waybill.operatorHandler(new Request("http://localhost/readyz"))
    return reply.code(status).send(status === 200 ? "ready" : "not ready")
  })
  app.get("/style.css", (_request, reply) => reply.type("text/css; charset=utf-8").header("cache-control", "max-age=3600").send(style))

  loginPages(app, parts)
  dispatchPages(app, parts)
  customerPages(app, parts)

  // the five interfaces, for the same users; operators' calls are not on this address
  app.register(toFastifyPlugin({ handler: waybill.customerHandler }), { prefix: "/freight" })
  app.get("/portal", (_request, reply) => reply.redirect("/portal/", 302))
  app.register(portal(waybill, await openPortalPage()), { prefix: "/portal" })
  return app
}

/** The page, and its calls as the client of the customer who is logged in. */
const portal = (waybill: Waybill, page: Awaited<ReturnType<typeof openPortalPage>>) =>
  toFastifyPlugin({
    handler: async (request, { host, remoteAddress } = {}) => {
      const { customer } = (host as FastifyRequest).currentUser ?? {}
      // page and calls name the whole path, so there is no mount path to remove
      return page(request) ?? waybill.portalHandler(request, customer && { tenantId: carrier.tenantId, client: clientOf(customer.id) }, { remoteAddress, host })
    }
  })

const answerTo = (error: FastifyError | WaybillError | Refused): { readonly status: number; readonly message: string } => {
  if (error instanceof Refused) return { status: error.status, message: error.message }
  // what Waybill refuses is the user's input; its other errors are for the log
  if (error instanceof WaybillError && error.status < 500) return { status: error.status, message: error.message }
  if (!(error instanceof WaybillError) && error.statusCode !== undefined && error.statusCode < 500) return { status: error.statusCode, message: error.message }
  return { status: 500, message: "The action failed, and nothing of it was stored. Try again." }
}

/** Browsers name the site of the page that sends a form. Requests of other programs have neither header, and no cookie. */
const isCrossSiteWrite = ({ headers, method }: FastifyRequest): boolean => {
  if (method === "GET" || method === "HEAD") return false
  const site = headers["sec-fetch-site"]
  if (site !== undefined) return site !== "same-origin" && site !== "none"
  return headers.origin !== undefined && URL.parse(headers.origin)?.host !== headers.host
}
