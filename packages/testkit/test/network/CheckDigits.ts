/** The check digits of PRO numbers as a receiver checks them, apart from how the test kit makes them. */
import type { ProForm } from "../../src/network/ProNumbers.ts"

const checks: Readonly<Record<ProForm, (text: string) => boolean>> = {
  "modulo 7": (text) => /^\d{9}$/.test(text) && Number(text.slice(0, 8)) % 7 === Number(text[8]),
  "modulo 11": (text) => /^\d{3}-\d{6}-[\dX]$/.test(text) && (Number(text.slice(4, 10)) + (text[11] === "X" ? 10 : Number(text[11]))) % 11 === 0,
  "modulo 10": (text) => /^\d{10}$/.test(text) && [...text].reduce((sum, digit, at) => sum + Number(digit) * (at % 2 === 0 ? 3 : 1), 0) % 10 === 0,
  "plain": (text) => /^\d{11}$/.test(text)
}

/** Whether a number has this format and a valid check digit. */
export const isProNumber = (form: ProForm, text: string): boolean => checks[form](text)
