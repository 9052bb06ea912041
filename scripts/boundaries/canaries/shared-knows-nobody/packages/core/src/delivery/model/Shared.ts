export type Lane = string
