import "vitest"

declare module "vitest" {
  export interface ProvidedContext {
    /** A Postgres that the tests own: `postgres://…/postgres`, a superuser's. */
    readonly pgUrl: string
    /** For tests that start servers of their own, below a directory that is removed after the run; `null` where `pgUrl` was given. */
    readonly pgPrograms: {
      readonly initdb: string
      readonly pg_ctl: string
      readonly directory: string
      /** The user that runs them, if it is not that of this process. */
      readonly user: { readonly uid: number; readonly gid: number } | undefined
    } | null
    /** The program as a bundle, and Node's compile cache of it. */
    readonly program: { readonly path: string; readonly compileCache: string }
  }
}

declare global {
  /** Set while `npm run secrets` collects output with `vitest.output.ts`. */
  var waybillTestOutput: {
    /** A line of a log, or a response. */
    readonly said: (text: string) => void
    /** A secret that no output may contain. */
    readonly secret: (value: string | undefined) => void
    /** A command that was run in this process, with its environment and output. */
    readonly ran: (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>, output: { readonly stdout: string; readonly stderr: string }) => void
  } | undefined

  /** Holds services against the OpenAPI document: `packages/http/test/openapi/shareDescriptions.ts`. A disagreement fails the running test. */
  var waybillOpenApi: {
    /** Holds the responses of a service's handlers against the document of a service without options. */
    readonly describedHandlers: <W extends WaybillHandlers>(waybill: W) => W
    /** Until the test ends, checks the responses of this server to `fetch` against the document that it serves. */
    readonly describeServer: (url: string) => void
    /** The part of a webhook that the document does not describe. */
    readonly faultOfNotification: (notification: { readonly headers: Readonly<Record<string, string>>; readonly body: unknown }) => string | undefined
  } | undefined

  interface WaybillHandlers {
    readonly handler: (request: Request, options?: never) => Promise<Response>
    readonly customerHandler: (request: Request, options?: never) => Promise<Response>
    readonly operatorHandler: (request: Request, options?: never) => Promise<Response>
  }
}
