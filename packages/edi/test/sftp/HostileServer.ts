/** An SFTP server of a partner that means harm, or works in an unusual way: one folder, whose entries the test names. */
import { createHash } from "node:crypto"
import ssh2 from "ssh2"
import { onTestFinished } from "vitest"
import { newKey } from "./Sshd.ts"

export interface HostileOptions {
  /** Accepted by the method `password`, or as the answer to a question. */
  readonly password: string
  readonly asks?: boolean
  /** Names and what a read returns. */
  readonly files: Readonly<Record<string, string>>
  /** The folder has its entries again and again. */
  readonly isEndless?: boolean
  /** What the folder says of each entry beside its name. */
  readonly longname?: string
}

const { STATUS_CODE } = ssh2.utils.sftp

export const hostileServer = async ({ asks = false, files, isEndless = false, longname, password }: HostileOptions) => {
  const hostKey = newKey()
  const offered: Array<string> = []
  const opened: Array<string> = []
  let lists = 0
  const server = new ssh2.Server({ hostKeys: [hostKey] }, (client) => {
    client.on("error", () => {})
    client.on("authentication", (context) => {
      offered.push(context.method)
      if (!asks && context.method === "password" && context.password === password) return context.accept()
      if (asks && context.method === "keyboard-interactive") {
        return context.prompt([{ prompt: "Password: ", echo: false }], (answers) => answers[0] === password ? context.accept() : context.reject())
      }
      context.reject([asks ? "keyboard-interactive" : "password"])
    })
    client.on("session", (accept) => {
      accept().on("sftp", (accepted) => {
        const sftp = accepted()
        let listed = false
        sftp.on("OPENDIR", (request) => {
          listed = false
          sftp.handle(request, Buffer.from("folder"))
        })
        sftp.on("READDIR", (request) => {
          lists += 1
          if (listed && !isEndless) return sftp.status(request, STATUS_CODE.EOF)
          listed = true
          sftp.name(request, Object.entries(files).map(([filename, text]) => ({ filename, longname: longname ?? filename, attrs: { mode: 0o100644, uid: 0, gid: 0, size: text.length, atime: 0, mtime: 0 } })))
        })
        sftp.on("OPEN", (request, filename) => {
          opened.push(filename)
          sftp.handle(request, Buffer.from(filename))
        })
        sftp.on("READ", (request, handle, offset) => {
          const text = files[handle.toString().split("/").at(-1)!] ?? ""
          if (offset >= text.length) return sftp.status(request, STATUS_CODE.EOF)
          sftp.data(request, Buffer.from(text.slice(offset)))
        })
        sftp.on("FSTAT", (request, handle) => sftp.attrs(request, { mode: 0o100644, uid: 0, gid: 0, size: (files[handle.toString().split("/").at(-1)!] ?? "").length, atime: 0, mtime: 0 }))
        for (const done of ["CLOSE", "REMOVE"] as const) sftp.on(done, (request: number) => sftp.status(request, STATUS_CODE.OK))
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  const publicKey = (ssh2.utils.parseKey(hostKey) as ssh2.ParsedKey).getPublicSSH()
  return {
    port: (server.address() as { readonly port: number }).port,
    fingerprint: `SHA256:${createHash("sha256").update(publicKey).digest("base64").replace(/=+$/u, "")}`,
    offered,
    opened,
    lists: () => lists
  }
}
