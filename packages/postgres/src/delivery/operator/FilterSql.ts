/** SQL expressions that operators filter by. An index uses each, so text and index must agree. */

/** The host of an address with its port, in lower case, as core's `endpointHost` reads it. */
export const endpointHostSql = (column: string): string => `lower(substring(${column} from '^[^:]*://([^/?#]*)') COLLATE "C")`

/** The outcome of the last attempt. Core writes the records. */
export const lastOutcomeSql = (column: string): string => `(${column}[cardinality(${column})]::jsonb ->> 'outcome')`

/**
 * Always true. Indexes over all deliveries of a tenant in a state have it in their condition, so that only statements that say it use them: the planner
 * would take them for the deliveries of one destination too.
 */
export const ofAllDestinationsSql = (column: string): string => `cardinality(${column}) >= 0`
