/** Bytes in memory of their own. TypeScript before 5.7 has no type parameter for the memory of a `Uint8Array`. */
export type Bytes = ReturnType<Uint8Array["slice"]>

/** The pieces as one. */
export const joined = (pieces: ReadonlyArray<Uint8Array>): Bytes => {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
