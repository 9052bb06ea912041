/** Indexes of the memory stores: sets of rows by name. */
import { entryIn } from "./EntryIn.ts"

/** The set with this name. */
export const routeIn = (routes: Map<string, Set<string>>, name: string): Set<string> => entryIn(routes, name, () => new Set())
