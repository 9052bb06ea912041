import { createServer } from "node:http"
import { createRequire } from "node:module"
import { describe, expect, it } from "vitest"
import { toNodeHandler } from "../../src/index.ts"
import { listening } from "../listening.ts"
import { expectDocuments, expectGuarded, expectMounted, expectService, publish, publishCompressed, remembering, startWaybill, upload, userNamed } from "./Mounted.ts"

// It has no types.
const express = createRequire(import.meta.url)("express")

const listen = (app: any) => listening(createServer(app))

const logIn = (req: any, _res: unknown, next: () => void) => {
  req.user = userNamed(req.headers.authorization)
  next()
}

const started = async (...before: ReadonlyArray<unknown>) => {
  const waybill = await startWaybill((req) => req.user)
  const app = express()
  app.use(logIn)
  for (const each of before) app.use(each)
  app.use("/freight", toNodeHandler(waybill))
  app.use((error: Error, _req: unknown, res: any, _next: unknown) => res.status((error as { status?: number }).status ?? 500).send(error.message))
  return { app, mount: `${await listen(app)}/freight` }
}

describe("Express", () => {
  it("mounts the service below a path, with its own authentication and streamed documents", async () => {
    const { app, mount } = await started()
    app.use(express.json())
    await expectMounted(mount)
  })

  it("mounts it below a router and a parameter", async () => {
    const service = remembering()
    const app = express()
    const router = express.Router()
    router.use("/freight", toNodeHandler(service))
    app.use("/tenants/:tenant", router)
    const url = await listen(app)
    await fetch(`${url}/tenants/a%20b/freight/healthz?x=1`)
    expect(service.reached.map(({ mountPath, request }) => [mountPath, request.url])).toEqual([["/tenants/a%20b/freight", `${url}/tenants/a%20b/freight/healthz?x=1`]])
  })

  it("is behind the guards of the host, however a path is written", async () => {
    const { mount } = await started((req: any, res: any, next: () => void) => req.path.startsWith("/freight/operator") ? res.status(403).end() : next())
    await expectGuarded(mount)
  })

  it("says which mountPath is missing where the route does not say it", async () => {
    const waybill = await startWaybill((req) => req.user)
    const app = express()
    app.all("/freight/*rest", toNodeHandler(waybill))
    const url = await listen(app)
    const answer = await fetch(`${url}/freight/visibility/v1/events`)
    expect([answer.status, await answer.json()]).toMatchObject([404, {
      code: "path_not_found",
      detail: "There is no call at /freight/visibility/v1/events. If the application mounts Waybill at /freight, pass it on: mountPath: \"/freight\" in the options of toNodeHandler(waybill, …), toHonoHandler(waybill, …) or waybill.handler(request, …)."
    }])
    for (const path of ["/freight/nothing", "/freight//visibility/v1/events"]) {
      expect(await (await fetch(url + path)).json()).toMatchObject({ detail: "There is no call at this path. See openapi.json of this service." })
    }
  })

  it("explains what to do behind express.json()", async () => {
    const { mount } = await started(express.json())
    const answer = await publish(mount, "e1")
    expect([answer.status, await answer.text()]).toEqual([500, expect.stringContaining("Mount toNodeHandler(waybill) before the parser")])
  })

  it("accepts bytes that express.json() kept, and those of express.raw()", async () => {
    const keep = (req: any, _res: unknown, bytes: Buffer) => {
      req.rawBody = bytes
    }
    for (const parser of [express.json({ limit: "40mb", verify: keep }), express.raw({ limit: "40mb", type: "*/*" })]) {
      const { mount } = await started(parser)
      await expectService(mount, { behindParser: true })
      await expectDocuments(mount)
      for (const inChunks of [false, true]) expect((await publishCompressed(mount, { inChunks })).status).toBe(200)
    }
    expect((await publishCompressed((await started()).mount)).status).toBe(415)
  })

  it("refuses uploads itself when its parser comes first with the usual limit", async () => {
    const { mount } = await started(express.json())
    expect((await upload(mount, new Uint8Array(200_000))).status).toBe(413)
  })

  it("uses the caller's address according to `trust proxy`", async () => {
    const service = remembering()
    const app = express().set("trust proxy", true)
    app.use(toNodeHandler(service))
    await fetch(await listen(app), { headers: { "x-forwarded-for": "198.51.100.7" } })
    expect(service.reached[0]).toMatchObject({ remoteAddress: "198.51.100.7", mountPath: "" })
  })
})
