/** A client's identity says where it comes from, so that an API key and a token can never act as one another. */

const qualified = /^(?:key:.|jwt:.+:.)/su

/** A bare name means the client of API keys: `shipper-tms` is `key:shipper-tms`. `key:…` and `jwt:<issuer>:<sub>` stay as they are. */
export const qualifiedClient = (text: string): string => qualified.test(text) ? text : `key:${text}`
