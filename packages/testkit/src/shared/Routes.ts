/** Which rows something concerns, by name: the memory stores' indexes. */

/** The set under this name. An empty one is made when there is none, and need not be taken back. */
export const routeIn = (routes: Map<string, Set<string>>, name: string): Set<string> => {
  let route = routes.get(name)
  if (route === undefined) {
    route = new Set()
    routes.set(name, route)
  }
  return route
}
