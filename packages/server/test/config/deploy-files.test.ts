/** The files that operators copy start a server, and leave its stop the time that it takes. */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { readServerConfig } from "../../src/config/ServerConfig.ts"
import { fileNameOf } from "../../src/config/Variable.ts"
import { variableNames } from "../../src/config/Variables.ts"

const textOf = (path: string): string => readFileSync(join(import.meta.dirname, "../../../..", path), "utf8")

/** Each file with how it writes a variable's value, and how long it lets a stop take. */
const files = {
  "Dockerfile": { value: /(WAYBILL_[A-Z_]+)=(\S+)/g, stop: undefined },
  "compose.yaml": { value: /(WAYBILL_[A-Z_]+): (\w+)$/gm, stop: /stop_grace_period: (\d+)s/ },
  "docs/deploy/waybill.service": { value: /\b(WAYBILL_[A-Z_]+)=(\S+)/g, stop: /TimeoutStopSec=(\d+)/ }
}

const known = new Set([...variableNames, ...variableNames.map(fileNameOf)])

describe.each(Object.entries(files))("%s", (path, { stop, value }) => {
  const text = textOf(path)
  // a file that is there only where the file is used cannot be read here
  const given = Object.fromEntries(Array.from(text.matchAll(value), ([, name, of]) => [name!, of!]).filter(([name]) => !name!.endsWith("_FILE")))

  it("names variables that exist", () => {
    const names = Array.from(text.matchAll(/\bWAYBILL_[A-Z_]+/g), ([name]) => name).filter((name) => name !== "WAYBILL_PUBLISHED_PORT")
    assert.isAbove(names.length, 0)
    assert.deepStrictEqual(names.filter((name) => !known.has(name)), [])
  })

  it.effect("gives values that the server accepts, and a stop the time that it takes", Effect.fnUntraced(function*() {
    assert.isAbove(Object.keys(given).length, 0)
    const { delivery, drainDelayMillis } = yield* readServerConfig({ names: Object.keys(given), isTerminal: false, directory: "/srv" }).pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord(given))
    )
    const seconds = stop?.exec(text)?.[1]
    if (stop !== undefined) assert.isAtLeast(Number(seconds) * 1000, drainDelayMillis + delivery.drainMillis + 5000)
  }))
})
