import { receiver } from "../../receiver.ts"

export const POST = receiver.handle
