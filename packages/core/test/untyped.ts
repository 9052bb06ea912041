/** Input that its type does not allow, as callers without types pass it. */
export const untyped = <Input>(input: unknown): Input => input as Input
