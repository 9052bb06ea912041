import childProcess, { type ChildProcess } from "node:child_process"
import { appendFileSync, mkdirSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"

/**
 * While `WAYBILL_TEST_OUTPUT` names a directory, all output of the code under test is written there too: the output of child
 * processes and of commands, also if a test captures it, and the logs and responses of services. The secrets that were used are written
 * to separate files, and `npm run secrets` searches the output for them.
 */
const directory = process.env["WAYBILL_TEST_OUTPUT"]

if (directory !== undefined && globalThis.waybillTestOutput === undefined) {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const write = (name: string, text: string | Uint8Array) => appendFileSync(join(directory, name), text)
  const secret = (value: string | undefined) => {
    // shorter ones are words
    if (value !== undefined && value.length >= 8) write(`${process.pid}.secrets`, `${value}\n`)
  }
  let commands = 0
  const began = (args: ReadonlyArray<string>): string => {
    const name = `command-${process.pid}-${commands++}`
    write(`${name}.command`, `${args.join(" ")}\n`)
    return name
  }
  const ran = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>, { stderr, stdout }: { readonly stdout: string; readonly stderr: string }) => {
    const name = began(["waybill", ...args])
    write(`${name}.stdout`, stdout)
    write(`${name}.stderr`, stderr)
    secretsIn(env).forEach(secret)
  }
  globalThis.waybillTestOutput = { said: (text) => write(`service-${process.pid}.log`, `${text}\n`), secret, ran }
  recordChildren(began, write, secret)
}

function recordChildren(
  began: (args: ReadonlyArray<string>) => string,
  write: (name: string, text: string | Uint8Array) => void,
  secret: (value: string | undefined) => void
) {
  const prototype = (childProcess as unknown as { readonly ChildProcess: { readonly prototype: ChildProcess & { spawn: (options: SpawnOptions) => unknown } } }).ChildProcess.prototype
  const { spawn } = prototype
  prototype.spawn = function(this: ChildProcess, options) {
    const result = spawn.call(this, options)
    // what the bundler answers is the text of the sources, and nothing that they print
    if ((options.args ?? []).some((arg) => /\besbuild$/.test(arg))) return result
    const name = began(options.args ?? [])
    for (const stream of ["stdout", "stderr"] as const) record(this[stream], (chunk) => write(`${name}.${stream}`, chunk))
    // children with inherited streams print into the output of the tests
    if ((options.args ?? []).some((arg) => /\/main\.(?:ts|mjs)$/.test(arg))) {
      const env = Object.fromEntries((options.envPairs ?? []).map((pair) => pair.split(/=(.*)/s, 2) as [string, string]))
      secretsIn(env).forEach(secret)
      this.once("exit", () => secretsKeptIn(env["WAYBILL_DATA_DIR"] ?? join(String(options.cwd ?? tmpdir()), ".waybill")).forEach(secret))
    }
    return result
  }
}

interface SpawnOptions {
  readonly args?: ReadonlyArray<string>
  readonly envPairs?: ReadonlyArray<string>
  readonly cwd?: string | URL
}

/** Wraps `push`, because a listener would start the stream before the test listens. */
function record(stream: ChildProcess["stdout"], write: (chunk: Uint8Array) => void) {
  if (stream === null) return
  const { push } = stream
  stream.push = function(chunk: unknown, encoding?: BufferEncoding) {
    if (chunk instanceof Uint8Array) write(chunk)
    return push.call(stream, chunk, encoding)
  }
}

function secretsIn(env: Readonly<Record<string, string | undefined>>): ReadonlyArray<string | undefined> {
  const url = env["WAYBILL_DATABASE_URL"]
  return [
    env["WAYBILL_OPERATOR_KEY"],
    env["WAYBILL_API_KEY"],
    env["WAYBILL_WEBHOOK_SECRET"],
    ...(env["WAYBILL_SEALING_KEY"] ?? "").split(","),
    url !== undefined && URL.canParse(url) ? decodeURIComponent(new URL(url).password) : undefined
  ]
}

/** Secrets that a server generated in its data directory. */
function secretsKeptIn(dataDir: string): ReadonlyArray<string> {
  const kept = (path: string): ReadonlyArray<string> => {
    try {
      return [readFileSync(path, "utf8").trim()]
    } catch {
      return []
    }
  }
  const [home = "postgres"] = kept(join(dataDir, "postgres-home"))
  return [join(dataDir, "operator-key"), join(dataDir, "sealing-key"), join(resolve(dataDir, home), "password")].flatMap(kept)
}
