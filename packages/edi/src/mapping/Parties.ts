/** Rules for the names and addresses of parties, which every set has. */
import { type Codec, country, identifier, text } from "./Codec.ts"
import type { LoopRule, Rule, SegmentRule } from "./Mapping.ts"

/** Members of an address. */
interface AddressMembers {
  readonly line1: string
  readonly line2?: string
  readonly city: string
  readonly state: string
  readonly postalCode: string
  readonly country: string
}

const addressRules = (members: AddressMembers): ReadonlyArray<SegmentRule> => [
  { segment: "N3", name: "Address", elements: [
    { elements: [1], members: [members.line1], ...members.line2 === undefined ? {} : { repeated: members.line2 }, codec: text(55), name: "address" },
    ...members.line2 === undefined ? [] : [{ elements: [2], members: [members.line2], codec: text(55), name: "second line" }]
  ] },
  { segment: "N4", name: "Place", elements: [
    { elements: [1], members: [members.city], codec: text(30), name: "city" },
    { elements: [2], members: [members.state], codec: identifier(2), name: "state or province" },
    { elements: [3], members: [members.postalCode], codec: identifier(15), name: "postal code" },
    { elements: [4], members: [members.country], codec: country, name: "country" }
  ] }
]

export interface PartyMembers {
  readonly name: string
  readonly id?: { readonly member: string; readonly codec: Codec }
  readonly address: AddressMembers
  readonly more?: ReadonlyArray<Rule>
}

/** A loop N1 for the parties with these codes, which may name one party twice: the first is written, and read before the others. */
export const partyRule = (name: string, codes: ReadonlyArray<string>, { address, id, more = [], ...members }: PartyMembers, at?: Pick<LoopRule, "member" | "list">): LoopRule => ({
  loop: "N1",
  name,
  ...at,
  where: { element: 1, is: codes, prefers: true },
  content: [
    { segment: "N1", name, elements: [
      { elements: [2], members: [members.name], codec: text(60), name: `name of the ${name}` },
      ...id === undefined ? [] : [{ elements: [3, 4], members: [id.member], codec: id.codec, name: `id of the ${name}` }]
    ] },
    ...addressRules(address),
    ...more
  ]
})
