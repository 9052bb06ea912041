/** The id of a call in its response, its problem and every log line. */

const sane = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

type Headers = Readonly<Record<string, string | undefined>>

/** The caller's own id if it is safe for headers and logs, otherwise a new one. */
export const correlationIdOf = (headers: Headers, next: () => string): string => {
  const presented = headers["x-request-id"]
  return presented !== undefined && sane.test(presented) && !isCredential(presented, headers) ? presented : next()
}

/** A caller may send its key in this header too; credentials must not appear in a log. */
const isCredential = (presented: string, headers: Headers): boolean =>
  [headers["x-api-key"], headers["authorization"]].some((credential) => credential?.includes(presented) === true && presented.length >= 8)

/** The id as URI, as problem details require. */
export const instanceOf = (correlationId: string): string =>
  uuid.test(correlationId) ? `urn:uuid:${correlationId.toLowerCase()}` : `urn:request:${correlationId}`
