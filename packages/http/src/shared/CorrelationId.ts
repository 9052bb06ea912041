/** The name under which one call is found again: in its answer, in its problem and in every log line. */

const sane = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

type Headers = Readonly<Record<string, string | undefined>>

/** The caller's own id where it may stand in a header and a log line, otherwise a new one. */
export const correlationIdOf = (headers: Headers, next: () => string): string => {
  const presented = headers["x-request-id"]
  return presented !== undefined && sane.test(presented) && !isCredential(presented, headers) ? presented : next()
}

/** Whoever sends a key under every name there is shall not read it in a log. */
const isCredential = (presented: string, headers: Headers): boolean =>
  [headers["x-api-key"], headers["authorization"]].some((credential) => credential?.includes(presented) === true && presented.length >= 8)

/** The same as the URI that problem details want. */
export const instanceOf = (correlationId: string): string =>
  uuid.test(correlationId) ? `urn:uuid:${correlationId.toLowerCase()}` : `urn:request:${correlationId}`
