import { fuzz } from "./Fuzz.ts"

fuzz("invoices", ["invoices"])
