/** The descriptor of an area over HTTP. */
import { Effect } from "effect"
import { type ContractSpec, type HandlersOf, mount, type MountedContract } from "./Contract.ts"

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

interface Draft<Key extends string, Contract extends ContractSpec, Services> extends Omit<HttpArea<Key, Services>, "mounted"> {
  readonly contract: Contract
  readonly handlers: Effect.Effect<HandlersOf<Contract>, never, Services>
}

/** Keeps the key and the services, and not the contract, whose type would be in every declaration that lists areas. */
export const httpArea = <Key extends string, Contract extends ContractSpec, Services>({ handlers, ...area }: Draft<Key, Contract, Services>): HttpArea<Key, Services> =>
  ({ ...area, mounted: (base) => Effect.map(handlers, (made) => mount(area.contract, base, made)) })
