import type { Reporter, TestModule, Vitest } from "vitest/node"

const shownFiles = 10

/** After a failed run, prints the command that repeats each failed file alone. */
export default class NextSteps implements Reporter {
  private vitest: Vitest | undefined

  onInit(vitest: Vitest): void {
    this.vitest = vitest
  }

  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors: ReadonlyArray<unknown>): void {
    const failed = modules.filter((module) => module.state() === "failed")
    if (failed.length === 0 && unhandledErrors.length === 0) return
    const lines = failed.slice(0, shownFiles).map((module) => `  ${commandFor(module)}`)
    if (failed.length > shownFiles) lines.push(`  … and ${failed.length - shownFiles} more files`)
    const parts = [
      ...lines.length > 0 ? [`Run again, alone, what failed:\n\n${lines.join("\n")}`] : [],
      ...unhandledErrors.length > 0 ? [`${unhandledErrors.length} errors belong to no test. The stack of each, above, names its file: run that file alone.`] : [],
      "What passes alone needs something that another test changes, or a machine that is less busy: CONTRIBUTING.md, \"When a test fails\"."
    ]
    this.vitest?.logger.log(`\n${parts.join("\n\n")}\n`)
  }
}

const commandFor = (module: TestModule): string => {
  const tests = [...module.children.allTests("failed")]
  const file = `npm test -- --project ${module.project.name} ${module.relativeModuleId}`
  return tests.length === 1 ? `${file} -t ${quoted(tests[0]!.name)}` : file
}

/** As a pattern for `-t`, in a shell's single quotes. */
const quoted = (name: string): string => `'${name.replaceAll(/[.*+?^${}()|[\]\\]/g, ".").replaceAll("'", ".")}'`
