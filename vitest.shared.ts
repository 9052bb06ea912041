import { defineConfig } from "vitest/config"

// Packages find each other's sources, so nothing has to be built before a test.
export default defineConfig({
  resolve: { conditions: ["@waybill/source"] },
  ssr: { resolve: { conditions: ["@waybill/source"] } },
  test: { include: ["test/**/*.test.ts"] }
})
