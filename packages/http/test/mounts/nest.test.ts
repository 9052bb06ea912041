import "reflect-metadata"
import { type DynamicModule, type MiddlewareConsumer, Module } from "@nestjs/common"
import { NestFactory } from "@nestjs/core"
import { describe, expect, it } from "vitest"
import { toNodeHandler, type Waybill } from "../../src/index.ts"
import { withNestLifecycle } from "../../src/mounts/nest.ts"
import { endAfterwards } from "../endAfterwards.ts"
import { echo, expectDocuments, expectMounted, expectService, expectStreams, publish, startWaybill, userNamed } from "./Mounted.ts"

const WAYBILL = Symbol("Waybill")

const logIn = (req: any, _res: unknown, next: () => void) => {
  req.user = userNamed(req.headers.authorization)
  next()
}

const moduleOf = (waybill: object, Root: new() => object = class {}): DynamicModule => {
  Module({})(Root)
  return { module: Root, providers: [{ provide: WAYBILL, useFactory: async () => waybill }] }
}

const startApp = async (module: DynamicModule, options: object, prepare: (app: any) => void) => {
  const app = await NestFactory.create(module, { logger: false, forceCloseConnections: true, ...options })
  endAfterwards(() => app.close())
  app.use(logIn)
  prepare(app)
  await app.listen(0, "127.0.0.1")
  return app.getUrl()
}

describe("Nest", () => {
  it("mounts the service before its body parser, with its own authentication and streamed documents", async () => {
    const waybill = await startWaybill((req) => req.user)
    const url = await startApp(moduleOf(waybill), {}, (app) => {
      app.setGlobalPrefix("api")
      app.use("/freight", toNodeHandler(app.get(WAYBILL)))
    })
    await expectMounted(`${url}/freight`)
  })

  it("streams bodies in both directions", async () => {
    const url = await startApp(moduleOf({}), {}, (app) => app.use("/freight", toNodeHandler(echo())))
    await expectStreams(`${url}/freight`)
  })

  it("mounts it as middleware of a module, behind the parser, if `rawBody` keeps the bytes", async () => {
    const waybill = await startWaybill((req) => req.user)
    class Root {
      configure(consumer: MiddlewareConsumer) {
        consumer.apply(toNodeHandler(waybill, { mountPath: "/freight" })).forRoutes("freight/*path")
      }
    }
    const url = await startApp(moduleOf(waybill, Root), { rawBody: true }, (app) => {
      app.useBodyParser("json", { limit: "40mb", type: ["application/json", "application/merge-patch+json"] })
    })
    await expectService(`${url}/freight`, { behindParser: true })
    await expectDocuments(`${url}/freight`)
  })

  it("logs what to do behind the parser without `rawBody`", async () => {
    const waybill = await startWaybill((req) => req.user)
    class Root {
      configure(consumer: MiddlewareConsumer) {
        consumer.apply(toNodeHandler(waybill, { mountPath: "/freight" })).forRoutes("freight/*path")
      }
    }
    const logged: Array<string> = []
    const log = (...said: ReadonlyArray<unknown>) => void logged.push(said.map((each) => each instanceof Error ? each.message : String(each)).join(" "))
    const logger = { log: () => {}, warn: () => {}, error: log, fatal: log }
    const url = await startApp(moduleOf(waybill, Root), { logger }, () => {})
    expect((await publish(`${url}/freight`, "e1")).status).toBe(500)
    expect(logged.join("\n")).toContain("NestFactory.create(AppModule, { rawBody: true })")
  })

  it("starts and stops the service with the application", async () => {
    const calls: Array<string> = []
    const waybill = { start: async () => void calls.push("start"), stop: async () => void calls.push("stop"), wake: () => "still there" }
    const app = await NestFactory.create(moduleOf(withNestLifecycle(waybill)), { logger: false })
    await app.listen(0, "127.0.0.1")
    expect([calls, app.get(WAYBILL).wake()]).toEqual([["start"], "still there"])
    await app.close()
    expect(calls).toEqual(["start", "stop"])
    const typed: (waybill: Waybill) => Waybill = withNestLifecycle
    expect(typed).toBe(withNestLifecycle)
  })
})
