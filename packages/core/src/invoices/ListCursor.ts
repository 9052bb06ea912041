/** Cursor of a list: the position of the last item of a page. */
import { Effect, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { fault } from "../shared/Fault.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"

/** An invoice's id or number, and its carrier. */
interface ListPosition {
  readonly id: string
  readonly carrier: { readonly dot: string; readonly mc: string }
}

export const cursorAt = ({ carrier, id }: ListPosition): string => Base64Url.encode(JSON.stringify([id, carrier.dot, carrier.mc]))

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Tuple([Schema.String, Schema.String, Schema.String])))

export const readCursor = (cursor: string | undefined): Effect.Effect<ListPosition | undefined, InvalidInput> =>
  cursor === undefined ? Effect.undefined : Effect.fromResult(Base64Url.decodeString(cursor)).pipe(
    Effect.flatMap(decode),
    // stores contain no text with control characters or unpaired surrogates
    Effect.filterOrFail((parts) => parts.every((part) => !/[\p{Cc}\p{Cs}]/u.test(part))),
    Effect.map(([id, dot, mc]): ListPosition => ({ id, carrier: { dot, mc } })),
    Effect.mapError(() => InvalidInput.of(fault(["cursor"], "cursor is invalid. Use the cursor of the previous page, or leave it out.")))
  )
