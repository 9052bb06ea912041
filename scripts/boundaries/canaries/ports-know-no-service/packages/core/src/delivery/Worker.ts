export type Worker = string
