/** A request body that is made while it is sent, so that it never is in memory as a whole. */

export interface SentPieces {
  /** Called once for each attempt. */
  readonly make: () => AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined>
  /** Whether `fetch` gets a stream; otherwise a `Blob`, which browsers may keep on disk. */
  readonly streamed: boolean
}

/** What `fetch` is given, and what went wrong while the body was made. */
export interface SentBody {
  readonly init: RequestInit
  /** Of a body that is there already. */
  readonly size: number
  readonly failure: () => { readonly cause: unknown } | undefined
}

/** Browsers stream requests over HTTP/2 only, or not at all, and do not tell beforehand. */
export const canStreamRequests = (): boolean => {
  const userAgent = (globalThis as { readonly navigator?: { readonly userAgent?: string } }).navigator?.userAgent
  return typeof ReadableStream === "function" && !(userAgent ?? "").startsWith("Mozilla/")
}

/** `progress` is told of every piece that is taken. */
export const sentBodyOf = async ({ make, streamed }: SentPieces, progress: () => void): Promise<SentBody> => {
  const pieces = make()
  if (!streamed) {
    const parts: Array<Blob> = []
    for await (const piece of pieces) parts.push(new Blob([piece]))
    const body = new Blob(parts)
    return { init: { body }, size: body.size, failure: () => undefined }
  }
  let failure: { readonly cause: unknown } | undefined
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      progress()
      try {
        const { done, value } = await pieces.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      } catch (cause) {
        failure = { cause }
        throw cause
      }
    },
    cancel: async () => {
      await pieces.return()
    }
  }, { highWaterMark: 0 })
  // fetch takes no stream without it; the type of the web's own library does not know it yet
  const init = { body, duplex: "half" } as RequestInit
  return { init, size: 0, failure: () => failure }
}
