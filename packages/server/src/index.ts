export { type EmbeddedPostgres, startEmbeddedPostgres } from "./database/startEmbeddedPostgres.ts"
