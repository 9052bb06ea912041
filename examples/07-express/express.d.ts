// in your project: npm i -D @types/express, which this repository does without
declare module "express" {
  import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"

  interface Request extends IncomingMessage {
    readonly baseUrl: string
    readonly originalUrl: string
    readonly ip: string | undefined
    body: unknown
  }
  interface Response extends ServerResponse {
    status(code: number): this
    set(headers: Readonly<Record<string, string>>): this
    send(body: unknown): this
    json(body: unknown): this
  }
  type Handler = (request: Request, response: Response, next: (error?: unknown) => void) => unknown
  type ErrorHandler = (error: Error, request: Request, response: Response, next: (error?: unknown) => void) => unknown
  interface Express extends RequestListener {
    use(handler: Handler): this
    use(handler: ErrorHandler): this
    use(path: string, ...handlers: ReadonlyArray<Handler>): this
    get(path: string, ...handlers: ReadonlyArray<Handler>): this
    post(path: string, ...handlers: ReadonlyArray<Handler>): this
  }
  const express: {
    (): Express
    json(options?: { readonly limit?: string; readonly verify?: (request: IncomingMessage, response: ServerResponse, bytes: Buffer) => void }): Handler
    raw(options?: { readonly limit?: string; readonly type?: string }): Handler
  }
  export default express
  export type { Express, Handler, Request, Response }
}
