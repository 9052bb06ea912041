/** 210 and invoices, in both directions. */
import type { Invoice } from "@waybill/core/invoices"
import { member } from "../mapping/Members.ts"
import { withShipmentId } from "../mapping/References.ts"
import { finish, type ReadOne, readSetInSteps, type Steps } from "../mapping/ReadSet.ts"
import { type LostMember, type WriteSetResult, writeSet } from "../mapping/WriteSet.ts"
import type { PartnerProfile } from "../partners/PartnerProfile.ts"
import { type EdiFault, elementFaults } from "../x12/EdiFault.ts"
import type { TransactionSet } from "../x12/Interchange.ts"
import { lineHaul } from "./InvoiceCodecs.ts"
import { withOneCharge } from "./LineCharges.ts"
import { mapping210 } from "./Mapping210.ts"

type Data = Readonly<Record<string, unknown>>

/** Reads the invoice of a set. Its id comes from the SCAC and the invoice number, so the same invoice again has the same id. */
export const invoiceOf210 = (set: TransactionSet, partner: PartnerProfile): ReadOne<Invoice> => finish(readInvoice(set, partner))

export function* readInvoice(set: TransactionSet, partner: PartnerProfile): Steps<ReadOne<Invoice>> {
  const { faults, kept, records: [read], warnings } = yield* readSetInSteps(mapping210, { ...set, segments: withOneCharge(set.segments) }, partner)
  const more = read === undefined ? [] : missingIn(read.record, partner)
  const all = [...faults, ...more]
  return { value: read === undefined || all.length > 0 ? undefined : invoiceOf(read.record, partner), sources: read?.sources ?? new Map(), faults: all, warnings, kept: kept.toSorted((one, other) => one.position - other.position) }
}

const idTypesOf = ({ shipmentId }: PartnerProfile): ReadonlyArray<string> => shipmentId ?? ["PRO"]

const shipmentIdOf = (record: Data, partner: PartnerProfile): unknown => {
  for (const type of idTypesOf(partner)) {
    const found = member(record, `attributes[${type}]`)
    if (found !== undefined) return found
  }
  return member(record, "invoiceHeader.invoiceNumber")
}

const missingIn = (record: Data, { carrier, partner, requiredReferences = [] }: PartnerProfile): ReadonlyArray<EdiFault> => [
  ...carrier?.dot === undefined && carrier?.mc === undefined
    ? [{ level: "element" as const, code: elementFaults.missing, segment: "B3", position: 2, element: 11, detail: `Whose invoice is it? Name the carrier in the partner profile of ${partner}, carrier.dot or carrier.mc.` }]
    : [],
  ...requiredReferences.filter((type) => member(record, `attributes[${type}]`) === undefined)
    .map((type) => ({ level: "segment" as const, code: "3", segment: "N9", position: 3, detail: `The partner profile requires a reference of type ${type}.` }))
]

const invoiceOf = (record: Data, partner: PartnerProfile): Invoice => {
  const header = (record["invoiceHeader"] ?? {}) as Data
  const amount = header["invoiceAmount"] as Data
  const charges = (record["invoiceCharges"] ?? []) as ReadonlyArray<Data>
  return {
    ...record,
    uniqueID: `${String(member(record, "edi.scac"))}-${String(header["invoiceNumber"])}`,
    shipmentID: shipmentIdOf(record, partner),
    DOT: partner.carrier?.dot ?? "",
    MC: partner.carrier?.mc ?? "",
    invoiceHeader: { consignor: {}, consignee: {}, billingParty: {}, terms: {}, ...header, invoiceAmount: { currencyCode: "USD", ...amount } },
    invoiceCharges: charges.map((charge) => ({ chargeCode: lineHaul, chargeUnitCode: "FLAT", ...charge }))
  } as unknown as Invoice
}

const isAmountOfCharge = ({ member }: LostMember): boolean => /^invoiceCharges\.\d+\.cost\.value$/u.test(member)

/** Whether a member that was not written is the code of a charge. Readers take a line without L1-08 for the freight itself. */
export const isCodeOfCharge = ({ member }: LostMember): boolean => /^invoiceCharges\.\d+\.chargeCode$/u.test(member)

/** Writes one invoice as the contents of a set. Refuses one with a charge whose amount a 210 cannot carry: its lines would not add up to the amount due. */
export const write210 = (invoice: Invoice, partner: PartnerProfile, version: string = partner.version): WriteSetResult => {
  const scac = member(invoice, "edi.scac") ?? partner.scac
  const { attributes = [], invoiceHeader: { invoiceNumber }, shipmentID } = invoice
  const named = shipmentID === invoiceNumber ? attributes : withShipmentId(attributes, shipmentID, idTypesOf(partner))
  const result = writeSet(mapping210, { ...invoice, attributes: named, edi: { ...member(invoice, "edi") as object | undefined, ...scac === undefined ? {} : { scac } } }, partner, version)
  const refused = "refused" in result ? result.refused : result.lost.filter(isAmountOfCharge)
  return refused.length === 0 ? result : { refused }
}
