// Checks that retired words of docs/glossary.md are not used elsewhere. Decisions are not checked.
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../workspace.mjs"

const searched = ["packages/*/{src,test,dashboard}/**/*.{ts,tsx}", "packages/*/README.md", "bench/**/*.{ts,md}", "examples/**/*.{ts,md}", "scripts/**/*.mjs", "scripts/docs/*.md", "docs/*.md", "docs/areas/*.md", "docs/deploy/**/*.yaml", "*.md", "vitest.*.ts"]

const retiredIn = (text) => {
  const table = text.slice(text.indexOf("## Retired words"))
  return Array.from(table.matchAll(/^\| ([^|]+?) \| [^|]+? \|$/gm), ([, word]) => word).filter((word) => word !== "retired" && !/^-+$/.test(word))
}

export const checkGlossary = ({ path, text }) => {
  const words = retiredIn(text)
  const pattern = new RegExp(`(?<![A-Za-z0-9])(?:${words.join("|")})(?![a-z0-9])`)
  const faults = globSync(searched, { cwd: root, exclude: (name) => name === "node_modules" || name === "dist" })
    .filter((file) => file !== path)
    .flatMap((file) =>
      readFileSync(join(root, file), "utf8").split("\n").flatMap((line, index) => {
        const found = pattern.exec(line)
        return found === null ? [] : [`${file}:${index + 1}: "${found[0]}" is retired; ${path} names the word to use`]
      })
    )
  return { words: words.length, faults }
}
