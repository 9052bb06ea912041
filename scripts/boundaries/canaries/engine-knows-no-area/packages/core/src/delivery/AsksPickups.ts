import type { Pickup } from "../pickups/model/Carried.ts"

export type Asked = Pickup
