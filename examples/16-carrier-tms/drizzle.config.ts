/** For `npx drizzle-kit generate`, which writes the next migration after a change of the schema. */
export default { dialect: "postgresql", schema: "./src/database/schema.ts", out: "./migrations" }
