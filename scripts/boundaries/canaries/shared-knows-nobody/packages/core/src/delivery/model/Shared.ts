export type Destination = string
