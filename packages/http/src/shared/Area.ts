/** What the server needs to know of an area. */
import type { Effect } from "effect"
import type { ContractSpec, MountedContract } from "./Contract.ts"

export interface HttpArea {
  /** Its name in options. */
  readonly key: string
  /** Its base path, unless options give another. */
  readonly base: string
  /** Its name on pages, and what it is for. */
  readonly name: string
  readonly summary: string
  readonly contract: ContractSpec
  readonly mounted: (base: string) => Effect.Effect<MountedContract, never, unknown>
}
