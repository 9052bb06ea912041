/** Serves the page of the portal, in the program and in hosts: `waybill/portal`. */
import { HttpServerResponse } from "effect/http"
import { builtPage, guardedHeaders, readPage, type StaticPage, staticPage } from "../dashboard/StaticPage.ts"

export interface PortalPageOptions {
  /** Where the page and the calls of the portal are in this server. Default `/portal`. */
  readonly basePath?: string
  /** Origins whose pages may show this one in a frame, such as `https://app.example.com` or `https://*.example.com`. Default: none. */
  readonly frameAncestors?: ReadonlyArray<string>
}

const origin = /^https?:\/\/(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?$/i

/** Whether it is an origin that a policy can name. Nothing else may stand there: it would change the policy. */
export const isFrameAncestor = (text: string): boolean => origin.test(text)

/** The page, or `undefined` if it was not built. Images are loaded from https addresses, because a theme may have a logo. */
export const readPortalPage = async ({ basePath = "/portal", frameAncestors = [] }: PortalPageOptions = {}, directory = builtPage("portal")): Promise<StaticPage | undefined> => {
  const wrong = frameAncestors.find((text) => !isFrameAncestor(text))
  if (wrong !== undefined) throw new RangeError(`frameAncestors has ${JSON.stringify(wrong)}. Write origins, such as https://app.example.com.`)
  const files = await readPage(directory)
  if (!files.has("index.html")) return undefined
  const root = basePath.split("/").filter((part) => part !== "").map((part) => `/${part}`).join("")
  return staticPage(files, { root, what: "The portal's page", headers: guardedHeaders({ images: "https:", frameAncestors }), sharesPath: true })
}

/**
 * Reads the page of the portal once, and answers its requests: `undefined` for every other request, so that the host passes that on. The
 * page calls the portal below its own path.
 */
export const openPortalPage = async (options: PortalPageOptions = {}): Promise<(request: Request) => Response | undefined> => {
  const page = await readPortalPage(options)
  if (page === undefined) throw new Error("The page of the portal was not built. Run npm run build.")
  return (request) => {
    const response = page({ method: request.method, path: new URL(request.url).pathname, headers: Object.fromEntries(request.headers) })
    return response === undefined ? undefined : HttpServerResponse.toWeb(response, { withoutBody: request.method === "HEAD" })
  }
}
