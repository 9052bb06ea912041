import { accessMatrix } from "./AccessMatrix.ts"

accessMatrix()
