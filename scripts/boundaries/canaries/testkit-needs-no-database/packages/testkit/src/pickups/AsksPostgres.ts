import { table } from "../../../postgres/src/table.ts"

export const asked = table
