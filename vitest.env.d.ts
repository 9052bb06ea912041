import "vitest"

declare module "vitest" {
  export interface ProvidedContext {
    /** A Postgres that the tests own: `postgres://…/postgres`, a superuser's. */
    readonly pgUrl: string
  }
}
