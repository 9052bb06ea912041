/** Whose some subscriptions are, as far as they are known. */
export const ownersIn = (ids: ReadonlyArray<string>, clientOf: (id: string) => string | undefined): ReadonlyMap<string, string> =>
  new Map(ids.flatMap((id) => {
    const client = clientOf(id)
    return client === undefined ? [] : [[id, client] as const]
  }))
