import { fuzz } from "./Fuzz.ts"

fuzz("customers' portal", ["portal"])
