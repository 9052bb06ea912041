/** What the server needs to know of an area. */
import type { Effect } from "effect"
import type { ContractSpec, MountedContract } from "./Contract.ts"

export interface HttpArea<Key extends string, Services> {
  /** Its name in options. */
  readonly key: Key
  /** Its base path, unless options give another. */
  readonly base: string
  /** Its name on pages, and what it is for. */
  readonly name: string
  readonly summary: string
  readonly contract: ContractSpec
  readonly mounted: (base: string) => Effect.Effect<MountedContract, never, Services>
}

/** Keeps the key and the services, and not the contract, whose type would be in every declaration that lists areas. */
export const httpArea = <Key extends string, Services>(area: HttpArea<Key, Services>): HttpArea<Key, Services> => area
