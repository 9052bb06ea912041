/** A fake `fetch`: the test writes its responses. */

export interface Received {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly url: string
  readonly headers: Headers
  readonly body: unknown
  readonly init: RequestInit
}

export type AnswerRequest = (request: Received, count: number) => Response | Promise<Response>

/** Records the requests. `answer` gets each request and the number of requests before it. */
export const scriptedServer = (answer: AnswerRequest) => {
  const received: Array<Received> = []
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const request = new Request(url, init)
    const text = await request.text()
    const { pathname, search } = new URL(url)
    const seen = { method: request.method, path: pathname + search, url, headers: request.headers, body: text === "" ? undefined : JSON.parse(text), init }
    received.push(seen)
    const response = Promise.resolve(answer(seen, received.length - 1))
    // As with fetch, an aborted call ends even if the server never answers.
    return Promise.race([
      response,
      new Promise<never>((_, reject) => init.signal?.addEventListener("abort", () => reject(init.signal!.reason)))
    ])
  }
  return { received, fetch }
}

/** Makes a client whose `fetch` is a scripted server of its own. */
export const clientsOf = <Client, Options extends object>(Client: new (options: Options) => Client, credentials: object = { apiKey: "k" }) =>
  (answer: AnswerRequest, options: Partial<Options> = {}) => {
    const server = scriptedServer(answer)
    const client = new Client({ baseUrl: "https://waybill.test", fetch: server.fetch, retry: { firstPauseMillis: 1 }, ...credentials, ...options } as unknown as Options)
    return { ...server, client }
  }

export const json = (body: unknown, status = 200, headers: HeadersInit = {}): Response => Response.json(body, { status, headers })

export const problem = (status: number, body: object = {}, headers: HeadersInit = {}): Response =>
  Response.json({ status, title: "No", ...body }, { status, headers: { "content-type": "application/problem+json", ...headers } })

/** A server that never answers. */
export const never = (): Promise<Response> => new Promise(() => {})
