/** Broken implementations of bearer tokens. */
import { areas } from "../../src/api/Rule.ts"
import { type Call, jsonReply, type Mutation } from "./MutatingProxy.ts"
import type { Mutant } from "./Mutations.ts"

const tokenOf = ({ headers }: Call): string | undefined => headers["authorization"]?.slice("Bearer ".length)

/** Accepts some tokens as if they were the customer's. */
const trusting = (when: (token: string, valid: string) => boolean): Mutation => ({
  call: (call, { tokens }) => {
    const [token, valid] = [tokenOf(call), tokens!.customer!]
    return token !== undefined && when(token, valid) ? { ...call, headers: { ...call.headers, authorization: `Bearer ${valid}` } } : call
  }
})

const parts = (token: string) => token.split(".")

export const tokenMutants: ReadonlyArray<Mutant> = [
  ...areas.flatMap((area): ReadonlyArray<Mutant> => [
    { rule: `${area}-token`, name: "tokens are refused", seen: "answered 401", call: (call) => tokenOf(call) === undefined ? call : jsonReply(401, {}) },
    { rule: `${area}-token-forged`, name: "signatures are not verified", seen: "answered", ...trusting((token, valid) => parts(token)[1] === parts(valid)[1]) }
  ]),
  { rule: "a-token-forged", name: "claims are not signed", seen: "answered 200", ...trusting((token, valid) => parts(token)[2] === parts(valid)[2]) },
  { rule: "a-token-forged", name: "unsigned tokens are accepted", seen: "answered 200", ...trusting((token) => parts(token)[2] === "") },
  { rule: "a-token-forged", name: "403 for an invalid token", seen: "answered 403", call: (call, { tokens }) => [undefined, tokens!.customer].includes(tokenOf(call)) ? call : jsonReply(403, {}) },
  { rule: "a-token-expired", name: "expired tokens are accepted", seen: "answered 200", ...trusting((token) => parts(token)[2] !== "") }
]
