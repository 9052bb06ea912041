/** Errors whose message is made of their fields. */
import type { Cause } from "effect"
import { Schema } from "effect"

/** Like `Schema.TaggedError`. The message is made when it is read, so that it is no field of the error. */
export const taggedFailure = <Self>() =>
<Tag extends string, const Fields extends Schema.Struct.Fields>(
  tag: Tag,
  fields: Fields,
  messageOf: (error: Schema.Struct.Type<Fields>) => string
): Schema.Class<Self, Schema.TaggedStruct<Tag, Fields>, Cause.YieldableError> => {
  const failure = Schema.TaggedError<Self>()(tag, fields) as unknown as Schema.Class<Self, Schema.TaggedStruct<Tag, Fields>, Cause.YieldableError>
  Object.defineProperty(failure.prototype, "message", {
    get(this: Schema.Struct.Type<Fields>) {
      return messageOf(this)
    }
  })
  return failure
}
