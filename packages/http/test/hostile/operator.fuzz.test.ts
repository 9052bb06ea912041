import { fuzz } from "./Fuzz.ts"

fuzz("operators' calls", ["operator"])
