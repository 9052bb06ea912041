/** PRO numbers in the formats of different carriers, with or without a check digit. */

export type ProForm =
  /** Nine digits, the last one the first eight modulo 7. */
  | "modulo 7"
  /** `100-340397-9`: eleven less the middle six modulo 11; ten is X, eleven is 0. */
  | "modulo 11"
  /** Ten digits with weights 1 and 3 in turn, whose sum is a multiple of ten. */
  | "modulo 10"
  /** Eleven digits without a check. */
  | "plain"

const padded = (number: number, length: number): string => String(number).padStart(length, "0")

/** How many numbers a format has; then numbers repeat, as they do at carriers. */
const capacity: Readonly<Record<ProForm, number>> = { "modulo 7": 100_000_000, "modulo 11": 400_000_000, "modulo 10": 400_000_000, "plain": 10_000_000_000 }

const modulo10Check = (digits: string): number => {
  let sum = 0
  for (let at = 0; at < digits.length; at++) sum += Number(digits[at]) * (at % 2 === 0 ? 3 : 1)
  return (10 - sum % 10) % 10
}

const modulo11Check = (digits: string): string => {
  const check = 11 - Number(digits) % 11
  return check === 11 ? "0" : check === 10 ? "X" : String(check)
}

/** The `serial`-th PRO of a carrier, from 0. No two formats produce the same number. */
export const proNumberOf = (form: ProForm, serial: number): string => {
  const number = serial % capacity[form]
  switch (form) {
    case "modulo 7": {
      const digits = padded(number, 8)
      return `${digits}${number % 7}`
    }
    case "modulo 11": {
      // the middle part counts up, and carries over into the first part: 100 to 499
      const middle = padded(number % 1_000_000, 6)
      return `${100 + Math.floor(number / 1_000_000)}-${middle}-${modulo11Check(middle)}`
    }
    case "modulo 10": {
      const digits = String(500_000_000 + number)
      return `${digits}${modulo10Check(digits)}`
    }
    case "plain":
      return padded(number, 11)
  }
}
