import { readdirSync, readFileSync, readlinkSync } from "node:fs"

/** The local ports of a process's connections. */
export const connectionsOf = (pid: number): ReadonlySet<number> => {
  const inodes = new Set(readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
    } catch {
      return []
    }
  }))
  const rows = readFileSync(`/proc/${pid}/net/tcp`, "utf8").split("\n").slice(1).map((line) => line.trim().split(/\s+/))
  return new Set(rows.filter((columns) => inodes.has(columns[9]!)).map((columns) => Number.parseInt(columns[1]!.split(":")[1]!, 16)))
}
