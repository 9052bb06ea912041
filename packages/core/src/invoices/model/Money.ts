/** Amounts as texts, and as decimals that are added and compared exactly. */
import type { BigDecimal } from "effect"

/** An amount as published: an integer or a decimal fraction, optionally with `-`, at most 32 characters. */
export const moneyText = /^(?=.{1,32}$)-?(?:[0-9]+|[0-9]*[.][0-9]+)$/u

/** With all its decimals, unlike `BigDecimal.format`: 12.50 stays 12.50. */
export const showMoney = ({ scale, value }: BigDecimal.BigDecimal): string => {
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, "0")
  const whole = digits.slice(0, digits.length - scale)
  return `${value < 0n ? "-" : ""}${whole}${scale === 0 ? "" : `.${digits.slice(-scale)}`}`
}
