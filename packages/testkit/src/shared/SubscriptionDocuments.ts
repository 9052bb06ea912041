/** Subscription documents as core stores them, for known subscriptions. */
export const documentsIn = (ids: ReadonlyArray<string>, documentOf: (id: string) => string | undefined): ReadonlyMap<string, string> =>
  new Map(ids.flatMap((id) => {
    const doc = documentOf(id)
    return doc === undefined ? [] : [[id, doc] as const]
  }))
