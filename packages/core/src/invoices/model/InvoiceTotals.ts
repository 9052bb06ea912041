/** Checks whether the charge lines of an invoice add up. A difference causes a warning, not an error. */
import { BigDecimal } from "effect"
import type { Invoice } from "./Invoice.ts"
import { showMoney, sumOfAmounts } from "./Money.ts"

/** Returns sentences in printable ASCII, which fit into an HTTP header. SPEC-GAP-B8 */
export const totalWarnings = ({ invoiceCharges, invoiceHeader }: Invoice): ReadonlyArray<string> => {
  const total = invoiceHeader.invoiceAmount
  const costs = invoiceCharges.flatMap((each) => each.cost ?? [])
  const currencies = [...new Set([total, ...costs].map((each) => each.currencyCode.toUpperCase()))].sort()
  if (currencies.length > 1) {
    return [`The amounts are in several currencies (${currencies.slice(0, 20).join(", ")}), so the charge lines were not compared with the invoice amount.`]
  }
  const sum = sumOfAmounts(costs.map((each) => BigDecimal.fromStringUnsafe(each.value)))
  if (BigDecimal.equals(sum, BigDecimal.fromStringUnsafe(total.value))) return []
  return [`The charge lines add up to ${showMoney(sum)} ${currencies[0]}, the invoice amount is ${total.value} ${currencies[0]}.`]
}
