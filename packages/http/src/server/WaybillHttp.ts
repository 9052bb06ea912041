/** The whole service over HTTP: on its own server, in another router, or as one effect. */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { type AreaKey, httpAreas } from "../Areas.ts"
import { SecuritySchemes, type SecuritySchemesByName, standardSchemes } from "../access/SecuritySchemes.ts"
import { IntakeContract } from "../intake/IntakeContract.ts"
import { IntakeHandlers } from "../intake/IntakeHandlers.ts"
import { OperatorContract } from "../operator/OperatorContract.ts"
import { OperatorHandlers } from "../operator/OperatorHandlers.ts"
import { PortalContract } from "../portal/PortalContract.ts"
import { PortalHandlers } from "../portal/PortalHandlers.ts"
import { type MountedContract, mount, normalBase, type PlacedContract } from "../shared/Contract.ts"
import { version } from "../shared/Version.ts"
import { docsPageOf, escape } from "./DocsPage.ts"
import { type OpenApiDocument, openApiOf } from "./OpenApi.ts"
import { type App, makePipeline, type PipelineOptions } from "./RequestPipeline.ts"
import { CustomersSystemContract, SystemContract, withPublicMetrics } from "./SystemContract.ts"
import { type Document, type Documents, makeSystemHandlers } from "./SystemHandlers.ts"

type Area = typeof httpAreas[number]

/** Base path of each area. */
export interface BasePaths extends Readonly<Record<AreaKey, string>> {
  readonly intake: string
  readonly operator: string
  readonly portal: string
  /** Probes, metrics and documentation. */
  readonly system: string
}

/** Areas share paths, so each has its own base. SPEC-GAP-D1, SPEC-GAP-E1, SPEC-GAP-X5 */
export const defaultBasePaths: BasePaths = {
  ...Object.fromEntries(httpAreas.map(({ base, key }) => [key, base])) as Record<AreaKey, string>,
  intake: "/intake",
  operator: "/operator",
  portal: "/portal",
  system: ""
}

/** Base paths, limits and documents of the HTTP API. */
export interface WaybillHttpOptions extends PipelineOptions {
  readonly basePaths?: Partial<BasePaths> | undefined
  /**
   * The whole service answers `/metrics` without credentials. By default only operators read them there. The part for
   * operators always answers, and the part for customers never does.
   */
  readonly publicMetrics?: boolean | undefined
  /**
   * Calls of the program itself, for customers and carriers. They have the authentication, limits, audit log and OpenAPI document of all
   * others.
   */
  readonly more?: ReadonlyArray<MountedContract> | undefined
}

/** Required services: an authenticator, and what `Waybill.layer` provides. */
export type WaybillHttpServices = Effect.Services<
  | ReturnType<Area["mounted"]>
  | typeof IntakeHandlers
  | typeof PortalHandlers
  | typeof OperatorHandlers
  | typeof makeSystemHandlers
  | ReturnType<typeof makePipeline>
>

const basesOf = ({ basePaths = {} }: WaybillHttpOptions): BasePaths =>
  Object.fromEntries(Object.entries(defaultBasePaths).map(([key, base]) => [key, basePaths[key as keyof BasePaths] ?? base])) as unknown as BasePaths

/**
 * The service as a whole and in parts. Two are for servers with a separate operator address: each has the probes and an
 * OpenAPI document of its own calls. The portal is for hosts that authenticate its callers. All share the counters of callers.
 */
export interface WaybillApps {
  readonly whole: App
  /** The five areas, intake, the program's own calls and the portal. */
  readonly customers: App
  /** `/operator`, `/metrics` and `/docs`. */
  readonly operators: App
  /** The portal alone. */
  readonly portal: App
}

const make = Effect.fnUntraced(function*(options: WaybillHttpOptions): Effect.fn.Return<WaybillApps, never, WaybillHttpServices> {
  const bases = basesOf(options)
  const portal = mount(PortalContract, bases.portal, yield* PortalHandlers)
  const areas: ReadonlyArray<MountedContract> = [
    ...yield* Effect.forEach(httpAreas, ({ key, mounted }): Effect.Effect<MountedContract, never, WaybillHttpServices> => mounted(bases[key])),
    mount(IntakeContract, bases.intake, yield* IntakeHandlers),
    ...options.more ?? [],
    portal
  ]
  const operator = mount(OperatorContract, bases.operator, yield* OperatorHandlers)
  const handlersFor = yield* makeSystemHandlers
  const schemes = yield* SecuritySchemes
  const appOf = yield* makePipeline(options)
  const system = (calls: ReadonlyArray<PlacedContract>, namesTenants: boolean) => handlersFor(documentsOf(calls, schemes), { namesTenants })
  const PublicMetricsContract = withPublicMetrics(SystemContract)
  return {
    whole: appOf([...areas, operator, mount(options.publicMetrics === true ? PublicMetricsContract : SystemContract, bases.system, system([...areas, operator], options.publicMetrics !== true))]),
    customers: appOf([...areas, mount(CustomersSystemContract, bases.system, system(areas, false))]),
    operators: appOf([operator, mount(PublicMetricsContract, bases.system, system([operator], true))]),
    portal: appOf([portal])
  }
})

/** The HTTP API over the services in the context. */
export const WaybillHttp = {
  /** The service as one effect that answers any request, for hosts that serve it themselves. */
  make: (options: WaybillHttpOptions = {}): Effect.Effect<App, never, WaybillHttpServices> => Effect.map(make(options), ({ whole }) => whole),

  /** Like `make`, with its parts: for customers and carriers, for operators, and the portal. */
  makeParts: (options: WaybillHttpOptions = {}): Effect.Effect<WaybillApps, never, WaybillHttpServices> => make(options),

  /** Adds every path of the service to a router, and answers all other paths below its bases. The rest belongs to the host. */
  layer: (options: WaybillHttpOptions = {}): Layer.Layer<never, never, HttpRouter.HttpRouter | WaybillHttpServices> =>
    HttpRouter.use(Effect.fnUntraced(function*(router) {
      const { whole: app } = yield* make(options)
      const { system, ...areas } = basesOf(options)
      for (const base of new Set([...Object.values(areas), ...(options.more ?? []).map((each) => each.base)].map(normalBase))) yield* router.add("*", `/${base.slice(1)}/*`, app)
      for (const { path } of Object.values(SystemContract.endpoints)) {
        yield* router.add("*", `/${normalBase(system).slice(1)}${path.replace(/\{.*\}/, "*")}`.replace("//", "/") as HttpRouter.PathInput, app)
      }
    })),

  /** The OpenAPI 3.1 document of every area, without a running service. */
  openApi: (options: WaybillHttpOptions & { readonly securitySchemes?: SecuritySchemesByName } = {}): OpenApiDocument => {
    const bases = basesOf(options)
    const { publicBaseUrl, securitySchemes = standardSchemes } = options
    // a copy, because documents share the objects of their schemas
    return structuredClone(openApiOf([
      ...httpAreas.map(({ contract, key }) => ({ contract, base: normalBase(bases[key]) })),
      { contract: IntakeContract, base: normalBase(bases.intake) },
      ...options.more ?? [],
      { contract: PortalContract, base: normalBase(bases.portal) },
      { contract: OperatorContract, base: normalBase(bases.operator) }
    ], { version, server: publicBaseUrl?.replace(/\/+$/, "") ?? "/", securitySchemes }))
  },

  /** Serves only this service on the given server. Every request gets a response in the format of its area. */
  serve: (options: WaybillHttpOptions = {}): Layer.Layer<never, never, HttpServer.HttpServer | WaybillHttpServices> =>
    Layer.unwrap(Effect.map(make(options), ({ whole }) => HttpServer.serve(whole)))
}

/** Rendered when they are first asked for, because most processes start to answer other calls. */
const documentsOf = (calls: ReadonlyArray<PlacedContract>, securitySchemes: SecuritySchemesByName): Documents => {
  const about = { version, server: placeholder, securitySchemes }
  const written = (placed: ReadonlyArray<PlacedContract>) =>
    forAnyServer(() => JSON.stringify(openApiOf(placed, about)), (server) => JSON.stringify(server).slice(1, -1))
  return {
    openApi: written(calls),
    openApiOf: new Map(calls.map((call) => [`${call.contract.area}.json`, written([call])])),
    docs: forAnyServer(() => docsPageOf(openApiOf(calls, about), { openApiPath: "openapi.json", server: placeholder }), escape)
  }
}

/** Placeholder for the server's URL in a document that is rendered once. */
const placeholder = "https://server.invalid/placeholder"

const encoder = new TextEncoder()

/** Encoded once: what depends on a request is small. */
const forAnyServer = (render: () => string, written: (server: string) => string): Document => {
  let parts: ReadonlyArray<Uint8Array> | undefined
  return (server) => {
    const [before, after] = parts ??= render().split(placeholder).map((part) => encoder.encode(part))
    return [before!, encoder.encode(written(server)), after!]
  }
}
