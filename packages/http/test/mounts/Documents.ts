/** Checks the description of the host by a mounted service: addresses, calls, credentials and metrics. */
import { expect } from "vitest"

const headersOf = (user?: string): Record<string, string> => user === undefined ? {} : { authorization: `Bearer ${user}` }

export const openApiAt = async (mount: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${mount}/openapi.json`, { headers })
  const text = await answer.text()
  return { text, json: JSON.parse(text) }
}

const statusAt = async (mount: string, path: string, user?: string): Promise<number> => {
  const answer = await fetch(`${mount}${path}`, { headers: headersOf(user) })
  await answer.body?.cancel()
  return answer.status
}

/** The documents name the mount and none of Waybill's own credentials, and only operators read the metrics. */
export const expectOwnDocuments = async (mount: string): Promise<void> => {
  const { json, text } = await openApiAt(mount)
  expect(json.servers).toEqual([{ url: mount }])
  expect([json.security, json.components.securitySchemes]).toEqual([undefined, undefined])
  expect(json.info.description).toContain("The application that serves these calls authenticates their callers.")
  const area = await (await fetch(`${mount}/openapi/pickups.json`)).json() as { readonly servers: unknown }
  expect(area.servers).toEqual([{ url: mount }])
  const page = await (await fetch(`${mount}/docs`)).text()
  expect(page).toContain(`<code>${mount}</code>`)
  const refused = await fetch(`${mount}/visibility/v1/events`)
  const refusal = await refused.json() as { readonly detail: string }
  expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, null])
  expect(refusal.detail).toBe("The application that serves this call does not recognize the caller. Log in, or send credentials that it accepts.")
  for (const said of [text, page, refusal.detail]) expect(said).not.toMatch(/X-API-Key|bearer/i)
  expect([await statusAt(mount, "/metrics"), await statusAt(mount, "/metrics", "shopA"), await statusAt(mount, "/metrics", "operator")]).toEqual([401, 403, 200])
}

/** Each handler describes and serves the same calls; operators have the metrics. */
export const expectOwnCalls = async (mounts: { readonly customers: string; readonly operators: string }): Promise<void> => {
  const pathsAt = async (mount: string): Promise<ReadonlyArray<string>> => Object.keys((await openApiAt(mount)).json.paths)
  const [customers, operators] = [await pathsAt(mounts.customers), await pathsAt(mounts.operators)]
  expect(customers).toContain("/visibility/v1/events")
  expect(operators).toContain("/operator/v1/tenants")
  expect(customers.filter((path) => path.startsWith("/operator/"))).toEqual([])
  expect(operators.filter((path) => !path.startsWith("/operator/"))).toEqual([])
  for (const [mount, described, foreign] of [[mounts.customers, customers, operators], [mounts.operators, operators, customers]] as const) {
    for (const path of described) expect([path, await allowedAt(mount, path)]).toEqual([path, 204])
    for (const path of foreign) expect([path, await allowedAt(mount, path)]).toEqual([path, 404])
  }
  const page = await (await fetch(`${mounts.operators}/docs`)).text()
  expect([page.includes("<code>/operator/v1/tenants</code>"), page.includes("<code>/visibility/v1/events</code>")]).toEqual([true, false])
  const statuses = (mount: string) => Promise.all(["/healthz", "/readyz", "/docs", "/metrics"].map((path) => statusAt(mount, path)))
  expect(await statuses(mounts.customers)).toEqual([200, 200, 404, 404])
  expect(await statuses(mounts.operators)).toEqual([200, 200, 200, 200])
}

const allowedAt = async (mount: string, path: string): Promise<number> =>
  (await fetch(`${mount}${path.replaceAll(/\{[^}]+\}/g, "1")}`, { method: "OPTIONS" })).status
