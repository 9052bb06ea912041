import type { Lane } from "../delivery/model/Shared.ts"

export type Asked = Lane
