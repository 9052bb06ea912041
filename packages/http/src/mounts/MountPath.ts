/** Computes the path at which a host mounted Waybill. */

/** As many segments of `path` as `route` has before its wildcard. Taken from the path, because a route may contain parameters. */
export const mountPathOf = (path: string, route: string): string => firstSegments(path, segmentsOf(route.replace(/\*.*$/, "")).length)

/** All segments except the last `count`. */
export const mountPathBefore = (path: string, count: number): string => firstSegments(path, segmentsOf(path).length - count)

const firstSegments = (path: string, count: number): string => segmentsOf(path).slice(0, Math.max(count, 0)).map((segment) => `/${segment}`).join("")

const segmentsOf = (path: string): ReadonlyArray<string> => path.split(/[?#]/, 1)[0]!.split("/").filter((segment) => segment !== "")
