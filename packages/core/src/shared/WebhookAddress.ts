/** The address of a webhook, under the name that an interface gives it. */
import { Schema } from "effect"

export const webhookAddress = (member: string) =>
  Schema.String.check(
    Schema.isPattern(/^[Hh][Tt][Tt][Pp][Ss]?:\/\/[^\s\p{Cc}\p{Cs}]+$/u, { message: `${member} is an absolute https address.` }),
    Schema.isMaxLength(2048, { message: `${member} has at most 2048 characters.` })
  )
