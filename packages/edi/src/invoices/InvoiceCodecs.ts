/** Codecs of 210: charges, their amounts, and the parties. */
import { coded, type Codec, hundredths, identifier, named, number, type ReadContext, text, unsignedNumber } from "../mapping/Codec.ts"
import { elementFaults } from "../x12/EdiFault.ts"

/** A line with freight in it is an item; any other is a charge of the whole invoice. */
const isItem = ({ look }: ReadContext): boolean => look("L0", 1) !== "" || look("L0", 4) !== "" || look("L7", 7) !== ""

/** Element 202: bills of their own, for the balance due, for other services, or past due. */
const bills: ReadonlySet<string> = new Set(["BD", "MB", "PD"])

/** B3-08. A cancelled bill that is read as an invoice would be paid, and a corrected one beside the first would be paid twice. */
export const onlyBills: Codec = {
  note: "a correction or a cancellation of an earlier bill is refused; BD (balance due), MB (miscellaneous) and PD (past due) are bills, and the code is kept",
  read: ([code = ""], { keep }) => {
    if (!bills.has(code)) return { wrong: 0, code: elementFaults.code, detail: `Corrections and cancellations of bills are not read, and this is ${JSON.stringify(code.slice(0, 10))}. The carrier replaces the invoice by the API.` }
    keep(0)
    return []
  },
  write: () => undefined
}

/** Members: chargeType, itemId. Element: LX-01. */
export const lineKind: Codec = {
  note: "a line with L0-01, L0-04 or L7-07 is an `ITEM_CHARGE`, any other a `BASE_CHARGE`; lines are numbered from 1",
  read: ([line = ""], context) => {
    const item = Number(context.look("L0", 1) || line)
    return isItem(context) ? ["ITEM_CHARGE", Number.isInteger(item) ? item : undefined] : ["BASE_CHARGE", undefined]
  },
  write: ([type], { lose }) => {
    if (type === "HANDLING_UNIT_CHARGE") lose(0, "it is written as a charge of the whole invoice")
    return ["1"]
  }
}

/** Member: itemId. Element: L0-01. */
export const itemNumber: Codec = {
  note: "1 to 999",
  read: () => [],
  write: ([id], { lose }) => {
    if (typeof id === "number" && id >= 1 && id <= 999) return [String(id)]
    lose(0, "the element has at most three digits")
    return undefined
  }
}

const anyPieces = number(7)

/** Member: itemPackageQuantity. Element: L0-08. */
export const pieces: Codec = {
  note: "a whole number",
  read: anyPieces.read,
  write: ([value], context) => {
    if (value === undefined || (Number.isInteger(value) && (value as number) >= 0)) return anyPieces.write([value], context)
    context.lose(0, "the element has whole numbers")
    return undefined
  }
}

/** Members: itemDescription, chargeDescription, chargeType. Element: L5-02. */
export const lineDescription: Codec = {
  note: "of an item its `itemDescription`, else `chargeDescription`",
  read: ([value = ""], context) => isItem(context) ? [value.trimEnd() || undefined, undefined] : [undefined, value.trimEnd() || undefined],
  write: ([ofItem, ofCharge, type], context) => {
    const isOfItem = type === "ITEM_CHARGE"
    return text(50).write([isOfItem ? ofItem : ofCharge], { ...context, lose: (_, reason) => context.lose(isOfItem ? 0 : 1, reason) })
  }
}

/** Members: chargeDescription, chargeType. Element: L1-12. */
export const chargeDescription: Codec = {
  note: "of an item",
  read: ([value = ""], context) => {
    if (isItem(context) || context.look("L5", 2) === "") return [value.trimEnd() || undefined]
    context.keep(0)
    return [undefined]
  },
  write: ([description, type], context) => type === "ITEM_CHARGE" ? text(25).write([description], context) : undefined
}

/** Members: cost.value, cost.currencyCode. Element: L1-04. */
export const cost: Codec = {
  note: `${hundredths.note}; the currency is that of the invoice`,
  read: (texts, context) => {
    const read = hundredths.read(texts, context)
    return "wrong" in read ? read : [...read, context.look("C3", 1) || "USD"]
  },
  write: ([value, currency], context) => {
    if (currency !== context.look("invoiceHeader.invoiceAmount.currencyCode")) {
      for (const index of [0, 1]) context.lose(index, "210 has one currency, that of the invoice amount")
      return undefined
    }
    return hundredths.write([value], context)
  }
}

/** The total again. */
export const total: Codec = {
  note: "the same as B3-07; a difference is a warning",
  read: ([value = ""], { look, warn }) => {
    if (Number(value) !== Number(look("B3", 7))) warn(0, `The total ${value} differs from the amount due ${look("B3", 7)}.`)
    return []
  },
  write: ([value], context) => hundredths.write([value], context)
}

/** Members: edi.rate, edi.rateQualifier, chargeUnitCode. Elements: L1-02, 03. */
export const rate: Codec = {
  note: "FR, or no rate, is `FLAT`, any other qualifier `UNIT_RATE`",
  read: ([value = "", qualifier = ""]) => [value || undefined, qualifier || undefined, qualifier === "FR" || qualifier === "" ? "FLAT" : "UNIT_RATE"],
  write: ([value, qualifier, unit], { lose }) => {
    if (typeof value === "string" && typeof qualifier === "string") {
      if (unit !== (qualifier === "FR" ? "FLAT" : "UNIT_RATE")) lose(2, "the qualifier of the rate says another")
      return [value, qualifier]
    }
    if (unit === "UNIT_RATE") lose(2, "there is no rate")
    return ["", ""]
  }
}

/** Element 150, L1-08, for codes that have a usual name. */
const chargeCodes: Readonly<Record<string, string>> = { FUE: "FUEL" }

/** Lines without a code are the freight itself. */
export const lineHaul = "LINEHAUL"

const namedCharge = named(chargeCodes, {
  agreed: ({ codes }) => codes?.charges,
  isCode: /^[A-Z0-9]{3}$/u,
  missing: "has no code; name one in the partner profile, codes.charges"
})

export const chargeCode: Codec = {
  note: `${coded(chargeCodes).note}; no code is ${lineHaul}; codes of three characters stay as they are`,
  read: namedCharge.read,
  write: (members, context) => members[0] === lineHaul ? [""] : namedCharge.write(members, context)
}

/** Weight: L0-04, 05, 11. Members: weight.value, weight.unitOfMeasure. */
export const weight: Codec = {
  note: "gross weight, in pounds (L) or kilograms (K); a weight in another unit is kept",
  read: ([value = "", qualifier = "", unit = ""], { keep }) => {
    if (value !== "" && !unsignedNumber.test(value)) return { wrong: 0, code: elementFaults.character, detail: "L0-04 is a number." }
    // tons that are taken for pounds would be two thousand times too light
    const isKnown = ["", "L", "K"].includes(unit)
    if (!isKnown || value === "") {
      for (const index of [...isKnown ? [] : [0], 1, 2]) keep(index)
      return [undefined, undefined]
    }
    if (qualifier !== "" && qualifier !== "G") keep(1)
    return [Number(value), unit === "K" ? "Kilograms" : "Pounds"]
  },
  write: ([value, unit], context) => {
    const written = number(10).write([value], context)
    return written !== undefined && (unit === "Pounds" || unit === "Kilograms") ? [...written, "G", unit === "Kilograms" ? "K" : "L"] : undefined
  }
}

/** Element 22 of a class code, L5-04. Members: nmfcNumber. Elements: L5-03, 04. */
export const nmfc: Codec = {
  note: "with the qualifier N; others are kept",
  read: ([code = "", qualifier = ""], { keep }) => {
    if (qualifier === "N" && code !== "") return [code]
    for (const index of [0, 1]) keep(index)
    return [undefined]
  },
  write: ([code], context) => {
    const written = identifier(30).write([code], context)
    return written === undefined ? undefined : [...written, "N"]
  }
}
