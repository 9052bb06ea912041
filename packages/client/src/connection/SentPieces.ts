/** A request body that is produced while it is sent, so that it is never in memory as a whole. */
import type { Bytes } from "../shared/Bytes.ts"

export interface SentPieces {
  /** Called once for each attempt. */
  readonly make: () => AsyncGenerator<Bytes, void, undefined>
  /** Whether `fetch` gets a stream. Otherwise it gets a `Blob`, which browsers may keep on disk. */
  readonly streamed: boolean
}

/** The body for `fetch`, and the error if producing it failed. */
export interface SentBody {
  readonly init: RequestInit
  /** Bytes of a body that is complete before sending; 0 for a stream. */
  readonly size: number
  readonly failure: () => { readonly cause: unknown } | undefined
}

/** Browsers stream request bodies over HTTP/2 only, or not at all, and offer no way to detect it. */
export const canStreamRequests = (): boolean => {
  const userAgent = (globalThis as { readonly navigator?: { readonly userAgent?: string } }).navigator?.userAgent
  return typeof ReadableStream === "function" && !(userAgent ?? "").startsWith("Mozilla/")
}

/** Calls `progress` for every chunk that `fetch` reads. */
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
  // `fetch` requires `duplex` for a stream; the DOM types do not declare it yet.
  const init = { body, duplex: "half" } as RequestInit
  return { init, size: 0, failure: () => failure }
}
