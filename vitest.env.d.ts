import "vitest"

declare module "vitest" {
  export interface ProvidedContext {
    /** A Postgres that the tests own: `postgres://…/postgres`, a superuser's. */
    readonly pgUrl: string
    /** The program as a bundle, and where Node keeps what it compiled of it. */
    readonly program: { readonly path: string; readonly compileCache: string }
  }
}

declare global {
  /** Where `vitest.output.ts` collects what was said, while somebody wants to know. */
  var waybillTestOutput: {
    /** Something that a log, an answer or the like said. */
    readonly said: (text: string) => void
    /** Something that nobody may ever say. */
    readonly secret: (value: string | undefined) => void
  } | undefined
}
