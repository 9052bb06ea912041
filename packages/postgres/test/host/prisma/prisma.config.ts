import { defineConfig } from "prisma/config"

// generating a client does not connect
export default defineConfig({ schema: "schema.prisma", datasource: { url: "postgres://nobody@127.0.0.1:1/none" } })
