/** Codecs of references and of the ids of parties. */
import { type EdiFault, segmentFaults } from "../x12/EdiFault.ts"
import { coded, type Codec, identifier, named } from "./Codec.ts"

/** Element 128, L11-02. */
const referenceQualifiers: Readonly<Record<string, string>> = {
  CN: "PRO",
  BM: "BOL",
  PO: "PO",
  SI: "SID",
  MB: "MASTER_BOL",
  CR: "CUSTOMER",
  LO: "LOAD",
  AO: "APPOINTMENT",
  SN: "SEAL"
}

/** Qualifiers without a name stay unchanged; names without a qualifier are not written. */
export const referenceType: Codec = {
  note: `${coded(referenceQualifiers).note}; other qualifiers stay as they are`,
  ...named(referenceQualifiers, {
    agreed: ({ codes }) => codes?.references,
    isCode: /^[A-Z0-9]{2,3}$/u,
    missing: "has no qualifier; name one in the partner profile, codes.references"
  })
}

interface Reference {
  readonly type?: string
  readonly value?: string
}

/** The references with one that is the id of the shipment, of the first of these types unless there is another: without it the partner cannot tell which shipment is meant. */
export const withShipmentId = (references: ReadonlyArray<Reference>, shipmentId: string, types: ReadonlyArray<string>): ReadonlyArray<Reference> =>
  references.some(({ type }) => types.includes(type ?? "")) ? references : [...references, { type: types[0]!, value: shipmentId }]

/** The fault of a set without a reference that the partner profile requires. */
export const missingReference = (type: string): EdiFault =>
  ({ level: "segment", code: segmentFaults.missing, segment: "L11", position: 3, detail: `The partner profile requires a reference of type ${type}.` })

const writeAssigned: Codec["write"] = ([id], context) => {
  const written = identifier(80).write([id], context)
  return written === undefined ? undefined : ["93", ...written]
}

/** Elements: N1-03, 04. The id is a member, whose id it is has no place. */
export const partyId: Codec = {
  note: "written as 93 (assigned by the sender); an id of another kind is read as well, and its kind is kept",
  read: ([kind = "", id = ""], { keep }) => {
    if (kind !== "93") keep(0)
    return [id.trim() || undefined]
  },
  write: writeAssigned
}

/** Element 66: a customer's number with the carrier. */
const carriersCustomer = "25"

/** Elements: N1-03, 04 of the payer of a 210, which the carrier sends. The number of an account that the carrier gave. */
export const payerAccount: Codec = {
  note: "93 (assigned by the sender) and 25 (the carrier's customer code) are the number of an account, and 93 is written; another kind of id is kept",
  read: ([kind = "", id = ""], { keep }) => {
    if ((kind === "93" || kind === carriersCustomer) && id !== "") return [id.trim()]
    for (const index of [0, 1]) keep(index)
    return [undefined]
  },
  write: writeAssigned
}

/** Elements: N1-03, 04 of an order, which the shipper sends: 93 and 94 are as often its own codes of places as accounts with the carrier. */
export const orderAccount: Codec = {
  note: "25 (the carrier's customer code) is the number of an account, as is any id among the accounts of the partner profile; another id is kept",
  read: ([kind = "", id = ""], { keep, partner }) => {
    const account = id.trim()
    if (account !== "" && (kind === carriersCustomer || partner.accounts?.includes(account) === true)) return [account]
    for (const index of [0, 1]) keep(index)
    return [undefined]
  },
  write: () => undefined
}
