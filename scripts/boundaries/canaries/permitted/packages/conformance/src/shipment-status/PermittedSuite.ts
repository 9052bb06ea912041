import { it } from "@effect/vitest"
import { expect } from "vitest"

export const suite = [it, expect]
