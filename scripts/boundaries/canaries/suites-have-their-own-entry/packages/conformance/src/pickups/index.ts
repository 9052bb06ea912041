export * from "./CanarySuite.ts"
