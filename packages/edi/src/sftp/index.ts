export { sftpMailbox, type SftpOptions } from "./SftpMailbox.ts"
