/** Invoices and documents with every field. */
import type {
  BaseCharge,
  DocumentUpload,
  HandlingUnitCharge,
  Invoice,
  InvoiceHeader,
  ItemCharge,
  PostalAddress,
  SupportingDocuments
} from "../src/invoices/index.ts"

const address: Required<PostalAddress> = {
  streetAddress: "1 Main St", adminArea1: "NE", adminArea2: "Douglas", locality: "Omaha", neighborhood: "Old Market", postalCode: "68102",
  postalExt: "1234", countryCode: "USA", locationCode: "OMA"
}

const header: Required<InvoiceHeader> = {
  consignor: { consignorName: "Acme", address },
  consignee: { consigneeID: "C1", consigneeName: "Bolt", address },
  billingParty: { billingPartyName: "Acme", address },
  terms: { billingTerms: "Prepaid", paymentTerms: "30 days", paymentDueDate: "2026-12-20", cancellationPolicy: "none", disputeResolution: "court" },
  invoiceNumber: "N/1",
  invoiceDate: "2026-11-20",
  invoiceAmount: { currencyCode: "USD", value: "150.650" }
}

const anyCharge = {
  chargeCode: "400", chargeUnitCode: "FLAT", accountCode: "A1", chargeDescription: "Freight", specialInstructions: "none", hazmat: "no",
  stopNumber: "2", cost: { currencyCode: "USD", value: "50.65" }, quantity: { unitOfMeasure: "Pounds", value: 1200.5 },
  comments: [{ id: 2, commentText: "as agreed" }],
  chargeAuthorizerDetails: {
    authorizerTitle: "Ms", authorizerName: "Kim Q Lee", authorizerFirstName: "Kim", authorizerMiddleInitial: "Q", authorizerLastName: "Lee",
    authorizerNumber: "7", phoneNumber: "4025550100", email: "kim@acme.test"
  },
  chargeDiscount: { discountTypeCode: "DISCOUNT_APPLIED", discountValue: 77.5 }
} as const

const freight = {
  freightClassCode: "92.5",
  weight: { unitOfMeasure: "Pounds", value: 600.25 },
  dimension: { length: { unitOfMeasure: "In", value: 48 }, width: { unitOfMeasure: "In", value: 40 }, height: { unitOfMeasure: "In", value: 60 } },
  stackable: false
} as const

const baseCharge: Required<BaseCharge> = { chargeType: "BASE_CHARGE", ...anyCharge }

const itemCharge: Required<ItemCharge> = {
  chargeType: "ITEM_CHARGE", ...anyCharge, itemId: 1, itemUUID: "u-1", itemDescription: "Paint", nmfcNumber: "149980", itemPackageType: "Drum",
  itemPackageQuantity: 4, ...freight
}

const handlingUnitCharge: Required<HandlingUnitCharge> = {
  chargeType: "HANDLING_UNIT_CHARGE", ...anyCharge, handlingUnitId: 1, handlingUnitUUID: "u-2", handlingUnitDescription: "Pallet of paint",
  handlingUnitPackageType: "Pallet", handlingUnitPackageQuantity: 1, ...freight
}

export const invoice: Required<Invoice> = {
  uniqueID: "I/1",
  shipmentID: "S1",
  DOT: "USDOT 0123456",
  MC: "654321",
  invoiceHeader: header,
  invoiceCharges: [{ ...baseCharge, cost: { currencyCode: "USD", value: "49.350" } }, itemCharge, handlingUnitCharge],
  attributes: [{ id: 1, type: "billToAccountNumber", value: "4711" }],
  comments: [{ id: 1, commentText: "Thank you." }]
}

export const invoiceOf = (uniqueID: string, value: string = "150.650"): Invoice => ({
  ...invoice, uniqueID, invoiceHeader: { ...header, invoiceNumber: `N-${uniqueID}`, invoiceAmount: { currencyCode: "USD", value } }
})

export const pdf = (length: number, seed = 1): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(Math.max(length, 5))
  for (let at = 0; at < bytes.length; at++) bytes[at] = (at * 31 + seed * 7 + (at >> 8)) & 255
  bytes.set([0x25, 0x50, 0x44, 0x46, 0x2d])
  return bytes
}

const described = {
  uniqueID: "D1", shipmentID: "S1", DOT: "123456", MC: "654321", invoiceNumber: "N/1", invoiceDate: "2026-11-20", documentSource: "scanner",
  attributes: [{ id: 1, type: "billToAccountNumber", value: "4711" }], comments: [{ id: 1, commentText: "\"both\" sides é\u2028" }]
} as const

export const uploadOf = (documents: DocumentUpload["documents"]): Required<DocumentUpload> => ({ ...described, documents })

export const storedDocuments: SupportingDocuments = {
  ...described,
  documents: [
    { documentType: "POD", files: [{ id: "f-1", content: pdf(10) }, { id: "f-2", content: pdf(2_000, 2) }] },
    { documentType: "W&I", files: [{ id: "f-3", content: pdf(7, 3) }] }
  ]
}

/** The JSON that a server writes. */
export const wireOf = ({ documents, ...rest }: SupportingDocuments) => ({
  ...rest,
  documents: documents.map(({ documentType, files }) => ({
    documentType, files: files.map(({ content, id }) => ({ id, content: Buffer.from(content).toString("base64") }))
  }))
})
