import { sample } from "../../../testkit/src/samples/Sample.ts"

export const used = sample
