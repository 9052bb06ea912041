export * from "./DirectoryTransport.ts"
export * from "./EdiTransport.ts"
export * from "./ReceiveWaiting.ts"
