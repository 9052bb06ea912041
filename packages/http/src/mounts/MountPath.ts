/** Which part of an address belongs to the host. */

/** As many segments as the host's own route has before the wildcard, as they were really sent: routes may hold parameters. */
export const mountPathOf = (path: string, route: string): string => firstSegments(path, segmentsOf(route.replace(/\*.*$/, "")).length)

/** All but the last so many segments. */
export const mountPathBefore = (path: string, count: number): string => firstSegments(path, segmentsOf(path).length - count)

const firstSegments = (path: string, count: number): string => segmentsOf(path).slice(0, Math.max(count, 0)).map((segment) => `/${segment}`).join("")

const segmentsOf = (path: string): ReadonlyArray<string> => path.split(/[?#]/, 1)[0]!.split("/").filter((segment) => segment !== "")
