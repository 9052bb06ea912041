/** A function of the database. */
export interface SqlFunction {
  /** Its name and arguments. */
  readonly signature: string
  /** Takes the quoted schema, and the channel that wakes delivery workers. */
  readonly create: (schema: string, channel: string) => string
}

/** `definition`: what follows the signature. */
export const sqlFunction = (signature: string, definition: (schema: string, channel: string) => string): SqlFunction => ({
  signature,
  create: (schema, channel) => `CREATE OR REPLACE FUNCTION ${schema}.${signature}\n${definition(schema, channel)}`
})
