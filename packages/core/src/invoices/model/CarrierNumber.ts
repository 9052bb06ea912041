/** DOT and MC numbers however they were written. */

/** `USDOT 0123456`, `DOT-123456` and `123456` are one number. Empty when nothing was named. SPEC-GAP-B6 */
export const carrierNumber = (written: string): string =>
  written.toUpperCase()
    .replaceAll(/[^A-Z0-9]/gu, "")
    .replace(/^(?:USDOT|DOT|MC)/u, "")
    .replace(/^0+(?=.)/u, "")
