export { checkSftp, sftpMailbox, type SftpOptions } from "./SftpMailbox.ts"
