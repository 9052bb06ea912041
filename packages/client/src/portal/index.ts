export * from "./PortalClient.ts"
export type * from "./PortalSession.ts"
