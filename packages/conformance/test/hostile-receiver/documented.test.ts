import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { hostileBehaviours } from "../../src/hostile.ts"

const page = new URL("../../../../docs/hostile-receiver.md", import.meta.url)

const row = ({ does, must, name }: typeof hostileBehaviours[number]) => `| \`${name}\` | ${does} | ${must} |`

it("docs/hostile-receiver.md lists exactly the behaviours of the code, with the same descriptions", () => {
  const rows = readFileSync(page, "utf8").split("\n").filter((line) => /^\| `[a-z0-9.-]+` \| [A-Z]/.test(line))
  expect(rows).toEqual(hostileBehaviours.map(row))
})
