import { fuzz } from "./Fuzz.ts"

fuzz("intake", ["intake"])
