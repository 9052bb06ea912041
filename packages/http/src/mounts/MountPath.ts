/** Computes the path at which a host mounted Waybill. */
import { checkOptions, type OptionKind } from "@waybill/core"
import type { Waybill } from "../facade/Waybill.ts"

export const mountPathKind: OptionKind = { what: "a path such as /freight", accepts: (value) => typeof value === "string" && (value === "" || value.startsWith("/")) }

/** For hosts without types: refuses what is no service, and options that the handler does not have. */
export const checkMount = (of: string, waybill: Pick<Waybill, "handler">, options: object = {}, kinds: Readonly<Record<string, OptionKind>> = {}): void => {
  if (typeof (waybill as Partial<Waybill> | undefined)?.handler !== "function") throw new TypeError(`${of} takes the service that createWaybill returned, and options.`)
  checkOptions(of, options, kinds)
}

/** As many segments of `path` as `route` has before its wildcard. Taken from the path, because a route may contain parameters. */
export const mountPathOf = (path: string, route: string): string => firstSegments(path, segmentsOf(route.replace(/\*.*$/, "")).length)

/** All segments except the last `count`. */
export const mountPathBefore = (path: string, count: number): string => firstSegments(path, segmentsOf(path).length - count)

const firstSegments = (path: string, count: number): string => segmentsOf(path).slice(0, Math.max(count, 0)).map((segment) => `/${segment}`).join("")

const segmentsOf = (path: string): ReadonlyArray<string> => path.split(/[?#]/, 1)[0]!.split("/").filter((segment) => segment !== "")
