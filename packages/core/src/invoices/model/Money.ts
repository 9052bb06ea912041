/** Amounts as decimal texts: added and compared exactly, never as a float. */

/** `units` of 10 to the power of minus `scale`: 12.50 is 1250 and 2. */
export interface Money {
  readonly units: bigint
  readonly scale: number
}

/** An amount's text as published: an integer or a decimal fraction, `-` allowed, at most 32 characters. */
export const moneyText = /^(?=.{1,32}$)-?(?:[0-9]+|[0-9]*[.][0-9]+)$/u

/** The amount that a text of this form says. */
export const readMoney = (text: string): Money => {
  const point = text.indexOf(".")
  const scale = point < 0 ? 0 : text.length - point - 1
  const digits = text.replace(".", "")
  // `-.5` leaves no zero in front
  return { units: BigInt(digits === "-" ? "0" : digits), scale }
}

/** As precise as the more precise of the two. */
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
