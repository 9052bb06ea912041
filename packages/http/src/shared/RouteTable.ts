/** Finds the endpoint for a method and a path. */
import { type ContractSpec, type EndpointSpec, type Handler, type MountedContract, pathParamsOf } from "./Contract.ts"

export interface Route {
  readonly contract: ContractSpec
  readonly name: string
  readonly endpoint: EndpointSpec
  readonly handler: Handler
  /** Base and path with placeholders, for logs and metrics. */
  readonly template: string
  /** Whether a name is a path or query parameter. */
  readonly isParameter: (name: string) => boolean
}

/** A known path: its routes by method, and the methods for `Allow`. */
interface PathRoutes {
  readonly contract: ContractSpec
  readonly template: string
  readonly routes: ReadonlyMap<string, Route>
  readonly allow: string
}

type RouteMatch =
  | { readonly _tag: "Matched"; readonly pathRoutes: PathRoutes; readonly params: Readonly<Record<string, string>> }
  /** No route; `contract` is the one whose base path contains the path. */
  | { readonly _tag: "NotFound"; readonly contract: ContractSpec | undefined; readonly readable: boolean }

export interface RouteTable {
  /** `path` as received, without the query; one trailing slash is ignored. */
  readonly find: (path: string) => RouteMatch
  /** The contract whose base contains the path. */
  readonly areaOf: (path: string) => ContractSpec | undefined
}

interface Pattern {
  readonly segments: ReadonlyArray<{ readonly name: string | undefined; readonly text: string }>
  readonly pathRoutes: PathRoutes
}

const noParams = {}

export const makeRouteTable = (mounted: ReadonlyArray<MountedContract>): RouteTable => {
  const paths = mounted.flatMap(pathsOf)
  const plain = new Map<string, RouteMatch>()
  const patterns: Array<Pattern> = []
  for (const pathRoutes of paths) {
    if (pathRoutes.template.includes("{")) patterns.push({ segments: segmentsOf(pathRoutes.template), pathRoutes })
    else plain.set(pathRoutes.template, { _tag: "Matched", pathRoutes, params: noParams })
  }
  // Longest base first, so that a path belongs to the most specific area.
  const bases = mounted.filter(({ base }) => base !== "").sort((a, b) => b.base.length - a.base.length)
  const root = mounted.find(({ base }) => base === "")
  const areaOf = (path: string) => (bases.find(({ base }) => path === base || path.startsWith(`${base}/`)) ?? root)?.contract
  const notFound = (path: string, readable: boolean): RouteMatch => ({ _tag: "NotFound", contract: areaOf(path), readable })

  return {
    areaOf,
    find: (received) => {
      const path = received.length > 1 && received.endsWith("/") ? received.slice(0, -1) : received
      const found = plain.get(path)
      if (found !== undefined) return found
      const segments = decodeSegments(path)
      if (segments === undefined) return notFound(path, false)
      for (const pattern of patterns) {
        const params = paramsOf(pattern, segments)
        if (params !== undefined) return { _tag: "Matched", pathRoutes: pattern.pathRoutes, params }
      }
      // An encoded slash is part of a segment, never a separator.
      const exact = segments.some((segment) => segment.includes("/")) ? undefined : plain.get(`/${segments.join("/")}`)
      return exact ?? notFound(path, true)
    }
  }
}

const pathsOf = ({ base, contract, handlers }: MountedContract): ReadonlyArray<PathRoutes> => {
  const byPath = new Map<string, Map<string, Route>>()
  for (const [name, endpoint] of Object.entries(contract.endpoints)) {
    // Some interfaces publish paths with a trailing slash; both forms match.
    const template = `${base}${endpoint.path}`.replace(/(?<=.)\/$/, "")
    const parameters = new Set(pathParamsOf(template))
    for (const parameter of Object.keys(endpoint.query ?? {})) parameters.add(parameter)
    const routes = byPath.get(template) ?? new Map<string, Route>()
    routes.set(endpoint.method, {
      contract,
      name,
      endpoint,
      template,
      handler: handlers[name]!,
      isParameter: (fault) => parameters.has(fault)
    })
    byPath.set(template, routes)
  }
  return [...byPath].map(([template, routes]) => ({ contract, template, routes, allow: allowOf(routes) }))
}

const allowOf = (routes: ReadonlyMap<string, Route>): string => {
  const methods = [...routes.keys()]
  return [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ")
}

const segmentsOf = (template: string) =>
  template.split("/").slice(1).map((text) => ({ name: /^\{(.+)\}$/.exec(text)?.[1], text }))

/** Decodes each segment, so that an encoded slash stays inside its segment. */
const decodeSegments = (path: string): ReadonlyArray<string> | undefined => {
  const segments = path.split("/").slice(1)
  if (!path.includes("%")) return segments
  try {
    return segments.map(decodeURIComponent)
  } catch {
    return undefined
  }
}

const paramsOf = (pattern: Pattern, segments: ReadonlyArray<string>): Readonly<Record<string, string>> | undefined => {
  if (pattern.segments.length !== segments.length) return undefined
  const params: Record<string, string> = {}
  for (let index = 0; index < segments.length; index++) {
    const { name, text } = pattern.segments[index]!
    const segment = segments[index]!
    if (name === undefined ? segment !== text : segment === "") return undefined
    if (name !== undefined) params[name] = segment
  }
  return params
}
