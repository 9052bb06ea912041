/** Files for a partner that takes them by HTTP: one POST each. Nothing waits there for us: such a partner sends its files to us. */
import { checkOptions, type OptionKinds, optionKinds } from "@waybill/core"
import { type EdiMailbox, MailboxError, type MailboxProblem } from "./EdiMailbox.ts"

/** One request to the partner. */
export interface HttpPost {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly timeoutMillis: number
}

/** The status of the answer, or why there is none. */
export type HttpAnswer = { readonly status: number } | { readonly problem: MailboxProblem; readonly detail: string }

/** The partner's address and how to call it. */
export interface HttpMailboxOptions {
  readonly url: string
  /** Value of the header `authorization`. */
  readonly authorization?: string | undefined
  /** Default `application/edi-x12`. */
  readonly contentType?: string | undefined
  /** Of one request. Default 30,000. */
  readonly timeoutMillis?: number | undefined
  /** Larger files are refused, because a request is in memory. Default 16 MiB. */
  readonly maxFileBytes?: number | undefined
  /** Sends a request and follows no redirect. It decides which addresses may be reached. */
  readonly post: (request: HttpPost) => Promise<HttpAnswer>
}

const kinds: OptionKinds<HttpMailboxOptions> = {
  url: optionKinds.text,
  authorization: optionKinds.text,
  contentType: optionKinds.text,
  timeoutMillis: optionKinds.millis,
  maxFileBytes: optionKinds.count,
  post: optionKinds.function
}

const defaultMaxFileBytes = 16 * 1024 * 1024

/** Sends our files by HTTP, one request each. It has nothing to fetch: the partner calls us. */
export const httpMailbox = (options: HttpMailboxOptions): EdiMailbox => {
  checkOptions("httpMailbox", options, kinds)
  const { authorization, contentType = "application/edi-x12", maxFileBytes = defaultMaxFileBytes, post, timeoutMillis = 30_000, url } = options
  const host = new URL(url).host
  return {
    waiting: async () => [],
    read: () => {
      throw new MailboxError("refused", `Nothing waits at ${host}.`)
    },
    taken: async () => {},
    send: async (name, content) => {
      const body = await collect(name, content, maxFileBytes)
      const answer = await post({
        url,
        // the same file again has the same key
        headers: { "content-type": contentType, "idempotency-key": name, ...authorization === undefined ? {} : { authorization } },
        body,
        timeoutMillis
      })
      if (!("status" in answer)) throw new MailboxError(answer.problem, `${host}: ${answer.detail}`)
      const { status } = answer
      if (status >= 200 && status < 300) return
      throw new MailboxError(problemOf(status), `${host} answered ${status}.`)
    },
    close: async () => {}
  }
}

/** 408, 429 and errors of the server are about all files. */
const problemOf = (status: number): MailboxProblem => [401, 403].includes(status) ? "authentication" : status >= 500 || status === 408 || status === 429 ? "connection" : "refused"

const collect = async (name: string, content: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  let length = 0
  for await (const chunk of content) {
    length += chunk.length
    if (length > maxBytes) throw new MailboxError("refused", `${name} has more than ${maxBytes} bytes.`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
