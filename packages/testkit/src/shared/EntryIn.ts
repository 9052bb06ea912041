/** Entries of maps that are made when they are first asked for. */

/** The entry with this key. Makes one if missing, which a rollback need not undo. */
export const entryIn = <Key, Entry>(entries: Map<Key, Entry>, key: Key, make: () => Entry): Entry => {
  const entry = entries.get(key) ?? make()
  entries.set(key, entry)
  return entry
}
