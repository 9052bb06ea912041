export type Invoice = string
