/** Amounts as texts, and as decimals that are added and compared exactly. */
import { BigDecimal } from "effect"

/** An amount as published: an integer or a decimal fraction, optionally with `-`, at most 32 characters. */
export const moneyText = /^(?=.{1,32}$)-?(?:[0-9]+|[0-9]*[.][0-9]+)$/u

/** The exact sum, with the decimals of the amount that has most: `BigDecimal.sum` alone drops those of a zero, so that 0.50 - 0.50 + 3 would be 3 in this order only. */
export const sumOfAmounts = (amounts: ReadonlyArray<BigDecimal.BigDecimal>): BigDecimal.BigDecimal =>
  BigDecimal.scale(BigDecimal.sumAll(amounts), Math.max(0, ...amounts.map((each) => each.scale)))

/** With all its decimals, unlike `BigDecimal.format`: 12.50 stays 12.50. */
export const showMoney = ({ scale, value }: BigDecimal.BigDecimal): string => {
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, "0")
  const whole = digits.slice(0, digits.length - scale)
  return `${value < 0n ? "-" : ""}${whole}${scale === 0 ? "" : `.${digits.slice(-scale)}`}`
}
