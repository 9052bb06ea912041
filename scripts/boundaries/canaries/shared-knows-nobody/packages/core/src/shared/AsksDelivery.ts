import type { Destination } from "../delivery/model/Shared.ts"

export type Asked = Destination
