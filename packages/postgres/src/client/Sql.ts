/** Statements as tagged templates, and the types of their rows. */
export * from "./SqlRow.ts"
export * from "./SqlStatement.ts"
