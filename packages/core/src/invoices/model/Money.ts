/** Decimal amounts, added and compared exactly, without floats. */

/** `units` times 10 to the power of `-scale`: 12.50 is 1250 with scale 2. */
export interface Money {
  readonly units: bigint
  readonly scale: number
}

/** An amount as published: an integer or a decimal fraction, optionally with `-`, at most 32 characters. */
export const moneyText = /^(?=.{1,32}$)-?(?:[0-9]+|[0-9]*[.][0-9]+)$/u

/** Parses a text that matches `moneyText`. */
export const readMoney = (text: string): Money => {
  const point = text.indexOf(".")
  const scale = point < 0 ? 0 : text.length - point - 1
  const digits = text.replace(".", "")
  // `-.5` has no digit before the point
  return { units: BigInt(digits === "-" ? "0" : digits), scale }
}

/** Keeps the larger scale of the two. */
export const addMoney = (a: Money, b: Money): Money => {
  const scale = Math.max(a.scale, b.scale)
  return { units: atScale(a, scale) + atScale(b, scale), scale }
}

export const sameMoney = (a: Money, b: Money): boolean => {
  const scale = Math.max(a.scale, b.scale)
  return atScale(a, scale) === atScale(b, scale)
}

export const showMoney = ({ scale, units }: Money): string => {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, "0")
  const whole = digits.slice(0, digits.length - scale)
  return `${units < 0n ? "-" : ""}${whole}${scale === 0 ? "" : `.${digits.slice(-scale)}`}`
}

const atScale = ({ scale, units }: Money, wanted: number): bigint => units * 10n ** BigInt(wanted - scale)
