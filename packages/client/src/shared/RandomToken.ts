/** 32 random hexadecimal digits. `crypto.randomUUID` is missing in pages without https. */
export const randomToken = (): string => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")
