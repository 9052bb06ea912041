import { afterAll, onTestFinished, TestRunner } from "vitest"

/** Ends something after the test that started it or, started outside of tests, after the tests of the file. */
export const endAfterwards = (end: () => unknown): void => {
  const ended = async () => void await end()
  if (TestRunner.getCurrentTest() === undefined) afterAll(ended)
  else onTestFinished(ended)
}
