import { readFileSync } from "node:fs"

export const Page = () => <p>{readFileSync("/etc/hosts", "utf8")}</p>
