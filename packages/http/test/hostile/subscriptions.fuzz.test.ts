import { fuzz } from "./Fuzz.ts"

fuzz("transit events and freight charges", ["transit-events", "freight-charges"])
