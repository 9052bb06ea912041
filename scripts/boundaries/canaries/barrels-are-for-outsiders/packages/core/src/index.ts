export type All = string
export type Known = string
