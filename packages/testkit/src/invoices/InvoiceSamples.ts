/** Sample invoices and documents as a carrier's system sends them. */
import type { DocumentsUpload, Invoice } from "@waybill/core/invoices"

/** The parts of an invoice that tests usually set. */
export interface InvoiceOverrides {
  readonly uniqueID?: string
  readonly shipmentID?: string
  readonly DOT?: string
  readonly MC?: string
  readonly invoiceNumber?: string
  /** The charge lines' costs. */
  readonly costs?: ReadonlyArray<string>
  readonly total?: string
  /** Accounts it is addressed to. */
  readonly accounts?: ReadonlyArray<string>
  /** Any further member. */
  readonly more?: Readonly<Record<string, unknown>>
}

const chicago = { streetAddress: "12 Dock Road", adminArea1: "IL", locality: "Chicago", postalCode: "60608", countryCode: "USA" } as const
const dallas = { streetAddress: "7 Main Street", adminArea1: "TX", locality: "Dallas", postalCode: "75201", countryCode: "USA" } as const

const attributesOf = (accounts: ReadonlyArray<string> | undefined) =>
  accounts === undefined ? {} : { attributes: accounts.map((value, at) => ({ id: at + 1, type: "accountNumber", value })) }

/** A valid invoice whose lines add up by default. */
export const invoiceSample = (overrides: InvoiceOverrides = {}): Invoice => ({
  uniqueID: overrides.uniqueID ?? "INV-1",
  shipmentID: overrides.shipmentID ?? "SHP-1",
  DOT: overrides.DOT ?? "1234567",
  MC: overrides.MC ?? "MC-765432",
  invoiceHeader: {
    consignor: { consignorName: "Closets Inc.", address: chicago },
    consignee: { consigneeID: "C-9", consigneeName: "Mirrors Ltd.", address: dallas },
    billingParty: { billingPartyName: "Debtor Corp.", address: chicago },
    terms: { billingTerms: "Prepaid", paymentTerms: "Net 30", paymentDueDate: "2026-12-20" },
    invoiceNumber: overrides.invoiceNumber ?? "4711",
    invoiceDate: "2026-11-20",
    invoiceAmount: { currencyCode: "USD", value: overrides.total ?? "263.78" }
  },
  invoiceCharges: (overrides.costs ?? ["200.90", "62.88"]).map((value, at) => ({
    chargeType: "BASE_CHARGE",
    chargeCode: at === 0 ? "LINEHAUL" : "FUEL",
    chargeUnitCode: "FLAT",
    cost: { currencyCode: "USD", value }
  })),
  ...attributesOf(overrides.accounts),
  ...overrides.more
})

/** What differs from the sample of uploaded documents. */
export interface DocumentsOverrides extends Pick<InvoiceOverrides, "shipmentID" | "DOT" | "MC" | "invoiceNumber" | "accounts" | "more"> {
  /** Files by document type; one PDF by default. */
  readonly documents?: DocumentsUpload["documents"]
}

/** A valid upload. */
export const documentsSample = (overrides: DocumentsOverrides = {}): DocumentsUpload => ({
  uniqueID: "DOC-1",
  shipmentID: overrides.shipmentID ?? "SHP-1",
  DOT: overrides.DOT ?? "1234567",
  MC: overrides.MC ?? "MC-765432",
  invoiceNumber: overrides.invoiceNumber ?? "4711",
  invoiceDate: "2026-11-20",
  documentSource: "scanner",
  ...attributesOf(overrides.accounts),
  documents: overrides.documents ?? [{ documentType: "POD", files: [fileSample("PDF", 100)] }],
  ...overrides.more
})

const beginnings = {
  PDF: [0x25, 0x50, 0x44, 0x46, 0x2d],
  TIF: [0x49, 0x49, 0x2a, 0x00],
  JPEG: [0xff, 0xd8, 0xff],
  PNG: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
} as const

/** A file of this length with the first bytes of the format; `seed` varies the content. */
export const fileSample = (format: keyof typeof beginnings, size: number, seed = 0): Uint8Array => {
  const bytes = new Uint8Array(size)
  for (let at = 0; at < size; at++) bytes[at] = at * 31 + seed
  bytes.set(beginnings[format].slice(0, size))
  return bytes
}
