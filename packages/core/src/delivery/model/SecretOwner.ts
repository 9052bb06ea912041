/** The owner of a signing secret: whose webhooks it may sign. */
import { Result } from "effect"
import { qualifiedClient } from "../../access/model/Client.ts"
import { fault } from "../../shared/Fault.ts"
import { InvalidInput } from "../../shared/InvalidInput.ts"

/** One client (qualified), every client with one of some accounts, or every client of the tenant. */
export type SecretOwner =
  | { readonly _tag: "Client"; readonly client: string }
  | { readonly _tag: "Accounts"; readonly accounts: ReadonlyArray<string> }
  | { readonly _tag: "AnyClient" }

/** Whether a client may use the secret. A carrier's access to every shipment does not count, only its name and its own accounts. */
export const secretUsableBy = (
  owner: SecretOwner,
  who: { readonly client: string; readonly accounts: ReadonlyArray<string> }
): boolean => {
  switch (owner._tag) {
    case "Client":
      return owner.client === qualifiedClient(who.client)
    case "Accounts":
      return owner.accounts.some((account) => who.accounts.includes(account))
    case "AnyClient":
      return true
  }
}

/** An owner as calls and responses write it. */
export interface NamedOwner {
  readonly client?: string
  readonly accounts?: ReadonlyArray<string>
  readonly anyClient?: true
}

const theThree = "client, accounts or anyClient: true"

/** The owner that a call names; `undefined` if it names none. Fails if it names several, or an empty list of accounts. */
export const ownerNamed = ({ accounts, anyClient, client }: NamedOwner): Result.Result<SecretOwner | undefined, InvalidInput> => {
  const named: ReadonlyArray<readonly [member: string, owner: SecretOwner]> = [
    ...(client === undefined ? [] : [["client", { _tag: "Client", client: qualifiedClient(client) }] as const]),
    ...(accounts === undefined ? [] : [["accounts", { _tag: "Accounts", accounts: [...new Set(accounts)] }] as const]),
    ...(anyClient === undefined ? [] : [["anyClient", { _tag: "AnyClient" }] as const])
  ]
  const second = named[1]
  if (second !== undefined) {
    return Result.fail(InvalidInput.of(fault([second[0]], `A secret has one owner: name exactly one of ${theThree}.`, "conflict")))
  }
  if (accounts?.length === 0) {
    return Result.fail(InvalidInput.of(fault(["accounts"], `Name at least one account, or another owner: exactly one of ${theThree}.`, "out_of_bounds")))
  }
  return Result.succeed(named[0]?.[1])
}

/** The fault of a new secret without an owner. */
export const ownerMissing = InvalidInput.of(fault([], `A new secret needs an owner: name exactly one of ${theThree}.`, "required"))

const ofClient = "client:"

/**
 * The id of the secret that signs for a client whose subscription names none: `client:shipper-tms` for `key:shipper-tms`. It belongs to that
 * client by its id, and no other client has the same. SPEC-GAP-X3
 */
export const secretOfClient = (client: string): string => {
  const identity = qualifiedClient(client)
  const bare = identity.startsWith("key:") ? identity.slice(4) : identity
  return `${ofClient}${qualifiedClient(bare) === identity ? bare : identity}`
}

/** The client of such an id; `undefined` for other ids. */
export const clientOfSecret = (hmacSecretId: string): string | undefined =>
  hmacSecretId.startsWith(ofClient) && hmacSecretId.length > ofClient.length ? qualifiedClient(hmacSecretId.slice(ofClient.length)) : undefined

/** One id for each secret: `client:key:shipper-tms` is `client:shipper-tms`. */
export const canonicalSecretId = (hmacSecretId: string): string => {
  const client = clientOfSecret(hmacSecretId)
  return client === undefined ? hmacSecretId : secretOfClient(client)
}
