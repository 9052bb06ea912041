import { defineConfig } from "prisma/config"

// nobody connects while a client is generated
export default defineConfig({ schema: "schema.prisma", datasource: { url: "postgres://nobody@127.0.0.1:1/none" } })
