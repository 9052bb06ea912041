export * from "./client/index.ts"
export { InvalidSchemaName, type Migration, migrate, MigrationFailed, MigrationRefused, pending, print } from "./migrations/Migrations.ts"
export { migrations } from "./migrations/index.ts"
export * as StoragePostgres from "./StoragePostgres.ts"
