/** Bytes in memory of their own. TypeScript before 5.7 has no type parameter for the memory of a `Uint8Array`. */
export type Bytes = ReturnType<Uint8Array["slice"]>
