export * from "../hostile-receiver/Canary.ts"
