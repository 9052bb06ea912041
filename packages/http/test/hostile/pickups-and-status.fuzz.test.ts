import { fuzz } from "./Fuzz.ts"

fuzz("pickups, shipment status and the system", ["pickups", "shipment-status", "system"])
