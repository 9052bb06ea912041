// Starts the packed program like a user: checks that it starts on its own database and serves the dashboard.
import { spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"

/** @returns {Promise<string[]>} the names of the dashboard's files */
export async function dashboardOf(program, elsewhere) {
  const child = spawn(process.execPath, [program, "serve"], {
    cwd: elsewhere,
    env: { PATH: process.env.PATH, WAYBILL_PORT: "0", WAYBILL_DATA_DIR: join(elsewhere, "data"), WAYBILL_DEMO: "off" },
    stdio: ["ignore", "ignore", "pipe"]
  })
  const ended = new Promise((resolve) => child.once("close", resolve))
  const overdue = setTimeout(() => child.kill("SIGKILL"), 120_000)
  try {
    const url = await readyAt(child)
    const page = await text(`${url}/dashboard/`)
    const names = [...page.matchAll(/(?:src|href)="([\w.-]+\.(?:js|css))"/g)].map(([, name]) => name)
    for (const name of names) await text(`${url}/dashboard/${name}`)
    return names
  } finally {
    child.kill("SIGTERM")
    await ended
    clearTimeout(overdue)
  }
}

async function readyAt(child) {
  const lines = []
  for await (const line of createInterface({ input: child.stderr })) {
    lines.push(line)
    if (line.includes("\"Ready.\"")) {
      // the output is not read any further, and a full pipe would block the program
      child.stderr.resume()
      return JSON.parse(line).url
    }
  }
  throw new Error(`it ended before it was ready:\n${lines.join("\n")}`)
}

async function text(url) {
  const answer = await fetch(url)
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}`)
  return await answer.text()
}
