#!/usr/bin/env node
import "effect/schema/SchemaJITCompiler/enable"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(`waybill: This is Node ${process.versions.node}, and Waybill needs 22.19 or newer. In a clone of the repository, npm start brings its own.`)
  process.exit(1)
}

// Imported after the version check, because it does not load on an older Node.
await import("./program.ts")
