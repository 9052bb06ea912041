import type { Row } from "../../postgres/src/pickups/Row.ts"

export type Known = Row
