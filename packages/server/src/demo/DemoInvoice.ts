/** The carrier's invoice for a shipment, and its proof of delivery. */
import type { DocumentUpload, Invoice } from "@waybill/client"
import { dayOf, demoAccount, demoScac, type DemoShipment, invoiceNumberOf, type Place, uniqueIdOf } from "./DemoFreight.ts"
import { chargesOf } from "./DemoPosts.ts"
import { pdf } from "./DemoPdf.ts"

const carrierNumbers = { DOT: "3141592", MC: "271828" }

const addressOf = ({ address1, city, postalCode, state }: Place) => ({
  streetAddress: address1,
  locality: city,
  adminArea1: state,
  postalCode,
  countryCode: "USA"
})

/** Account that the invoice is addressed to. */
const payer = [{ type: "billToAccountNumber", value: demoAccount }]

/** The invoice of a shipment's final charges. */
export const invoiceOf = (shipment: DemoShipment, at: number): Invoice => {
  const { bolNumber, proNumber, route, shipmentId } = shipment
  const { destination, freight, origin } = route
  const charges = chargesOf(shipment, "final", freight.reweighed)
  const line = (chargeCode: string, chargeDescription: string, amount: number) => ({
    chargeType: "BASE_CHARGE" as const,
    chargeCode,
    chargeUnitCode: "FLAT" as const,
    chargeDescription,
    cost: dollars(amount)
  })
  return {
    uniqueID: uniqueIdOf(shipment),
    shipmentID: shipmentId,
    ...carrierNumbers,
    invoiceHeader: {
      consignor: { consignorName: origin.name, address: addressOf(origin) },
      consignee: { consigneeName: destination.name, address: addressOf(destination) },
      billingParty: { billingPartyName: origin.name, address: addressOf(origin) },
      terms: { billingTerms: "Prepaid", paymentTerms: "Net 30", paymentDueDate: dayOf(at + 30 * 86_400_000) },
      invoiceNumber: invoiceNumberOf(shipment),
      invoiceDate: dayOf(at),
      invoiceAmount: dollars(charges.preliminaryTotalCharges)
    },
    invoiceCharges: [
      line("LINEHAUL", `${freight.reweighed} pounds of class ${freight.freightClass}`, charges.grossCharges),
      line("DISCOUNT", `${charges.discountPercent} percent`, -charges.discountAmount),
      line("FUEL", `Fuel surcharge, ${charges.fuelSurchargePercent} percent`, charges.fuelSurchargeAmount)
    ],
    attributes: [...payer, { type: "proNumber", value: proNumber }, { type: "bolNumber", value: bolNumber }]
  }
}

/** Amounts of invoices are text. */
const dollars = (amount: number) => ({ currencyCode: "USD", value: amount.toFixed(2) })

/** The proof of delivery as PDF. */
export const proofOfDelivery = (shipment: DemoShipment, at: number): DocumentUpload => {
  const { bolNumber, proNumber, route, shipmentId } = shipment
  const { destination, freight, origin } = route
  return {
    uniqueID: `${uniqueIdOf(shipment)}-POD`,
    shipmentID: shipmentId,
    ...carrierNumbers,
    invoiceNumber: invoiceNumberOf(shipment),
    invoiceDate: dayOf(at),
    documentSource: "driver's tablet",
    attributes: payer,
    documents: [{
      documentType: "POD",
      files: [
        pdf("Proof of delivery", [
          `Carrier: ${demoScac}`,
          `PRO: ${proNumber}   BOL: ${bolNumber}`,
          `From: ${origin.name}, ${origin.city}, ${origin.state}`,
          `To: ${destination.name}, ${destination.address1}, ${destination.city}, ${destination.state} ${destination.postalCode}`,
          `Freight: ${freight.pallets} pallets, ${freight.pieces} pieces, ${freight.reweighed} lb, ${freight.description}`,
          `Received in good order, ${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`,
          "Signed: J. Doe"
        ])
      ]
    }]
  }
}
