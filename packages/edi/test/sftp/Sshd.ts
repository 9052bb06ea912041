/** OpenSSH's server on a free port of this machine, with its own host key, for one user: the one who runs the tests. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { createHash, generateKeyPairSync } from "node:crypto"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { connect, createServer, type Server, type Socket } from "node:net"
import { tmpdir, userInfo } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"

const program = ["/usr/sbin/sshd", "/usr/local/sbin/sshd"].find((path) => existsSync(path))

/** Why the tests do not run here: the end of their title. */
export const noSshd = program === undefined ? ": there is no sshd here, install openssh-server" : undefined

export interface Sshd {
  readonly port: number
  readonly user: string
  readonly privateKey: string
  /** Its host key's. */
  readonly fingerprint: string
  /** What it serves, as it sees it. */
  readonly root: string
}

export const startSshd = async (): Promise<Sshd> => {
  const root = mkdtempSync(join(tmpdir(), "waybill-sshd-"))
  const hostKey = join(root, "host-key")
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", hostKey])
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(root, "key")])
  // sshd of root wants its folder of privileges to exist
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true })
  const port = await freePort()
  writeFileSync(join(root, "config"), [
    `Port ${port}`,
    "ListenAddress 127.0.0.1",
    `HostKey ${hostKey}`,
    `AuthorizedKeysFile ${join(root, "key.pub")}`,
    // it would be removed while the test removes the folder
    "PidFile none",
    "Subsystem sftp internal-sftp",
    "StrictModes no",
    "UsePAM no",
    "PermitRootLogin yes",
    "PasswordAuthentication yes",
    "MaxStartups 100",
    ""
  ].join("\n"))
  const server = spawn(program!, ["-D", "-e", "-f", join(root, "config")], { stdio: ["ignore", "ignore", "pipe"] })
  await listening(server)
  for (const folder of ["from-partner", "to-partner"]) mkdirSync(join(root, folder))
  onTestFinished(() => {
    server.kill()
    rmSync(root, { recursive: true, force: true })
  })
  return { port, user: userInfo().username, root, privateKey: readFileSync(join(root, "key"), "utf8"), fingerprint: fingerprintIn(readFileSync(`${hostKey}.pub`, "utf8")) }
}

const listening = (server: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    let said = ""
    server.stderr!.on("data", (data: Buffer) => {
      said += data.toString()
      if (said.includes("Server listening")) resolve()
    })
    server.on("exit", () => reject(new Error(said)))
  })

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { readonly port: number }
      server.close(() => resolve(port))
    })
  })

const fingerprintIn = (line: string): string => `SHA256:${createHash("sha256").update(Buffer.from(line.split(" ")[1]!, "base64")).digest("base64").replace(/=+$/u, "")}`

/** A private key in a form that ssh2 reads. By Node, because one of 200 that ssh2 itself makes (Ed25519) is malformed. */
export const newKey = (): string => generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs1", format: "pem" }) as string

/** A network that can fail between both. */
interface Wire {
  readonly port: number
  /** Bytes from now on, in both directions, until the connection is cut or nothing moves any more. */
  fault: { readonly after: number; readonly kind: "cut" | "hang" } | undefined
}

export const wireTo = async (port: number): Promise<Wire> => {
  const wire = { port: 0, fault: undefined as Wire["fault"] }
  const sockets = new Set<Socket>()
  const server: Server = createServer((near) => {
    const far = connect(port, "127.0.0.1")
    let passed = 0
    for (const [from, to] of [[near, far], [far, near]] as const) {
      sockets.add(from)
      from.on("error", () => {})
      from.on("close", () => to.destroy())
      from.on("data", (data) => {
        passed += data.length
        const { fault } = wire
        if (fault === undefined || passed < fault.after) return void to.write(data)
        if (fault.kind === "cut") {
          near.destroy()
          far.destroy()
        }
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  wire.port = (server.address() as { readonly port: number }).port
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return wire
}
