import { expect } from "vitest"

export const used = expect
