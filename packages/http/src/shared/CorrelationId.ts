/** The name under which one call is found again: in its answer, in its problem and in every log line. */

const sane = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The caller's own id where it may stand in a header and a log line, otherwise a new one. */
export const correlationIdOf = (presented: string | undefined, next: () => string): string =>
  presented !== undefined && sane.test(presented) ? presented : next()

/** The same as the URI that problem details want. */
export const instanceOf = (correlationId: string): string =>
  uuid.test(correlationId) ? `urn:uuid:${correlationId.toLowerCase()}` : `urn:request:${correlationId}`
