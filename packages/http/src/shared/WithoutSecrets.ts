/** Log entries should not contain secrets, but the text of an error might quote its input. */
export const withoutSecrets = (text: string): string =>
  text
    .replace(/\bwb\.[\w-]{2,90}\.[0-9a-f-]{36}\.[\w-]{43}/g, "wb.…")
    .replace(/\bwhsec_[\w+/=-]{16,}/g, "whsec_…")
    .replace(/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, "$1 …")
    .replace(/(\bpostgres(?:ql)?:\/\/[^\s:/@]*):[^\s@]+@/g, "$1:…@")
