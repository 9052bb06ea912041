/** Text in the order of its code points, as databases sort it; JavaScript's own `<` compares halves of surrogate pairs. */

/** Negative, zero or positive, like a subtraction. */
export const compareText = (a: string, b: string): number => {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const x = a.charCodeAt(at)
    const y = b.charCodeAt(at)
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

/** Surrogates stand for code points above every single unit, so they rank last. */
const rank = (unit: number): number => unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800
