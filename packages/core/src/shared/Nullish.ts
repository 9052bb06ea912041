/** Members of input that may be left out or `null`. */
import { Schema } from "effect"

export const nullish = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
