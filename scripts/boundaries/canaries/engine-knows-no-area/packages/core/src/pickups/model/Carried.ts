export type Pickup = string
