// Runs on Node 20 without dependencies, because a new clone starts with it.
import { spawn, spawnSync } from "node:child_process"
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeSync } from "node:fs"
import { constants } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** The workspace's pinned Node. */
export const node = join(root, "node_modules/node/bin", process.platform === "win32" ? "node.exe" : "node")

/** Arguments of Node for programs that import the packages' sources. */
export const fromSources = ["--conditions=@waybill/source", "--disable-warning=ExperimentalWarning"]

/** Installs the packages of package-lock.json, unless they are installed. Concurrent calls wait for the first. */
export async function install() {
  while (!isInstalled()) {
    const release = takeLock(join(root, ".install.lock"))
    if (release === undefined) {
      await new Promise((resolve) => setTimeout(resolve, 500))
      continue
    }
    try {
      if (!isInstalled()) npmCi()
    } finally {
      release()
    }
  }
}

/** npm writes its own record when an installation is complete; it must name every package of the lock file. */
function isInstalled() {
  const read = (file) => JSON.parse(readFileSync(join(root, file), "utf8")).packages
  try {
    const installed = read("node_modules/.package-lock.json")
    return existsSync(node) && Object.entries(read("package-lock.json")).every(([path, wanted]) =>
      !path.startsWith("node_modules/") || wanted.optional || (path in installed && installed[path].version === wanted.version))
  } catch {
    return false
  }
}

function npmCi() {
  console.error("Installing dependencies (npm ci), once. This takes about a minute …")
  const args = ["ci", "--no-audit", "--no-fund", "--loglevel=error", "--include=dev", "--include=optional"]
  const npm = process.env.npm_execpath
  const result = npm?.endsWith("js")
    ? spawnSync(process.execPath, [npm, ...args], { cwd: root, encoding: "utf8" })
    : spawnSync("npm", args, { cwd: root, encoding: "utf8" })
  if (result.status === 0 && isInstalled()) return
  console.error([result.error?.message, result.stdout, result.stderr].filter(Boolean).join("\n"))
  console.error(result.status === 0
    ? `The installation left no ${node}. Are install scripts switched off (npm config get ignore-scripts)?`
    : "The installation failed. See the output of npm above.")
  process.exit(1)
}

/** @returns a function that releases the lock, or undefined while a running process holds it */
function takeLock(path) {
  try {
    const file = openSync(path, "wx")
    writeSync(file, String(process.pid))
    closeSync(file)
    return () => rmSync(path, { force: true })
  } catch (error) {
    if (error.code !== "EEXIST") return () => {}
  }
  if (!isHeld(path)) rmSync(path, { force: true })
  return undefined
}

function isHeld(path) {
  try {
    process.kill(Number(readFileSync(path, "utf8")), 0)
    return true
  } catch (error) {
    return error.code === "EPERM"
  }
}

/** Runs a program on the workspace's pinned Node, forwarding its exit code and signals. */
export function runOnPinnedNode(args) {
  const preload = pathToFileURL(join(root, "scripts/end-with-launcher.mjs"))
  const child = spawn(node, [`--import=${preload}`, ...args], {
    cwd: root,
    env: { ...process.env, WAYBILL_LAUNCHER: String(process.pid) },
    stdio: ["inherit", "inherit", "inherit", "ipc"]
  })
  const forward = (signal) => child.kill(signal)
  process.on("SIGTERM", forward)
  process.on("SIGHUP", forward)
  // a terminal sends Ctrl-C to both processes; forward signals only without a terminal
  process.on("SIGINT", process.stdin.isTTY ? () => {} : forward)
  endWhenNpmIsGone(child)
  child.on("error", (error) => {
    console.error(error.message)
    process.exit(1)
  })
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)))
}

/** `kill -9` on npm does not reach its children, and an orphaned server would keep its port and its database. */
function endWhenNpmIsGone(child) {
  if (process.env.npm_lifecycle_event === undefined) return
  const npm = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === npm) return
    clearInterval(watch)
    child.kill("SIGINT")
    setTimeout(() => child.kill("SIGKILL"), 5_000)
  }, 250)
}
