/** The entry of a map with this key. Creates one if missing, which a rollback need not undo. */
export const entryIn = <Key, Entry>(entries: Map<Key, Entry>, key: Key, make: () => Entry): Entry => {
  const entry = entries.get(key) ?? make()
  entries.set(key, entry)
  return entry
}

/** The set with this name, for indexes of the memory stores. */
export const setIn = (sets: Map<string, Set<string>>, name: string): Set<string> => entryIn(sets, name, () => new Set())
