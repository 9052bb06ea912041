/** Indexes of the memory stores: sets of rows by name. */

/** The set with this name. Creates an empty one if missing, which a rollback need not undo. */
export const routeIn = (routes: Map<string, Set<string>>, name: string): Set<string> => {
  let route = routes.get(name)
  if (route === undefined) {
    route = new Set()
    routes.set(name, route)
  }
  return route
}
