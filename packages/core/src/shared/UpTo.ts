/** Texts and lists with a maximum length. */
import { Schema } from "effect"

export const textUpTo = (maxLength: number) =>
  Schema.String.check(Schema.isMaxLength(maxLength, { message: `At most ${maxLength} characters.` }))

export const listUpTo = <S extends Schema.Top>(item: S, maximum: number) =>
  Schema.Array(item).check(Schema.isMaxLength(maximum, { message: `At most ${maximum} items.` }))
