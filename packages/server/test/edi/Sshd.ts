/** The real SFTP server of the bridge's tests, which are of another package. */
import { join } from "node:path"
import type * as Sshd from "../../../edi/test/sftp/Sshd.ts"

export const { noSshd, startSshd } = await import(new URL("../../../edi/test/sftp/Sshd.ts", import.meta.url).href) as typeof Sshd

/** The transport of a profile whose folder has the key. */
export const transportTo = ({ fingerprint, port, root, user }: Sshd.Sshd) => ({
  kind: "sftp",
  host: "127.0.0.1",
  port,
  user,
  hostKeys: [fingerprint],
  privateKey: { file: "key" },
  receiveFrom: join(root, "from-partner"),
  moveTo: join(root, "taken"),
  sendTo: join(root, "to-partner")
})
