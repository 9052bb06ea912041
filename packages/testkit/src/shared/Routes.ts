/** Indexes of the memory stores: sets of rows by name. */

/** The set with this name. Creates an empty one if missing, which a rollback need not undo. */
export const routeIn = (routes: Map<string, Set<string>>, name: string): Set<string> => {
  const route = routes.get(name) ?? new Set()
  routes.set(name, route)
  return route
}
