/** The TMS's own tables, in a schema of their own beside Waybill's. `migrations/` is generated from this file: `npx drizzle-kit generate`. */
import { index, integer, pgSchema, primaryKey, text, timestamp } from "drizzle-orm/pg-core"

export const tms = pgSchema("tms")

const instant = (name: string) => timestamp(name, { withTimezone: true, mode: "date" })

/** The companies that pay for freight. */
export const customers = tms.table("customers", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  street: text("street").notNull(),
  city: text("city").notNull(),
  state: text("state").notNull(),
  postalCode: text("postal_code").notNull(),
  /** Waybill's id of the API key of the customer's programs. The key itself is stored nowhere. */
  apiKeyId: text("api_key_id")
})

/** The account numbers of customers. A customer sees the freight of its accounts. */
export const accounts = tms.table("accounts", {
  number: text("number").primaryKey(),
  customerId: text("customer_id").notNull().references(() => customers.id)
}, (table) => [index("accounts_of_customer").on(table.customerId)])

export const users = tms.table("users", {
  id: integer("id").primaryKey().generatedAlwaysAsIdentity(),
  /** In lower case. */
  email: text("email").notNull().unique(),
  name: text("name").notNull(),
  passwordHash: text("password_hash").notNull(),
  role: text("role", { enum: ["dispatcher", "customer"] }).notNull(),
  /** The company of a user with role `customer`. */
  customerId: text("customer_id").references(() => customers.id),
  failedLogins: integer("failed_logins").notNull().default(0),
  lockedUntil: instant("locked_until")
})

export const sessions = tms.table("sessions", {
  /** A hash, so that a copy of the table opens no session. */
  tokenHash: text("token_hash").primaryKey(),
  userId: integer("user_id").notNull().references(() => users.id, { onDelete: "cascade" }),
  expiresAt: instant("expires_at").notNull()
}, (table) => [index("sessions_by_end").on(table.expiresAt)])

export const drivers = tms.table("drivers", {
  id: integer("id").primaryKey().generatedAlwaysAsIdentity(),
  name: text("name").notNull(),
  truck: text("truck").notNull()
})

export const statuses = ["booked", "dispatched", "picked up", "in transit", "out for delivery", "delivered"] as const
export type Status = typeof statuses[number]

export const shipments = tms.table("shipments", {
  number: integer("number").primaryKey().generatedAlwaysAsIdentity({ startWith: 1001 }),
  bolNumber: text("bol_number").notNull(),
  account: text("account").notNull().references(() => accounts.number),
  status: text("status", { enum: statuses }).notNull().default("booked"),
  driverId: integer("driver_id").references(() => drivers.id),
  description: text("description").notNull(),
  freightClass: text("freight_class").notNull(),
  pallets: integer("pallets").notNull(),
  pounds: integer("pounds").notNull(),
  heightInches: integer("height_inches").notNull(),
  bookedAt: instant("booked_at").notNull(),
  /** When the last charge was entered. From then on the bill does not change. */
  billedAt: instant("billed_at")
}, (table) => [index("shipments_of_account").on(table.account)])

/** Where the freight is picked up and delivered. */
export const stops = tms.table("stops", {
  shipment: integer("shipment").notNull().references(() => shipments.number),
  kind: text("kind", { enum: ["pickup", "delivery"] }).notNull(),
  name: text("name").notNull(),
  street: text("street").notNull(),
  city: text("city").notNull(),
  state: text("state").notNull(),
  postalCode: text("postal_code").notNull(),
  doneAt: instant("done_at")
}, (table) => [primaryKey({ columns: [table.shipment, table.kind] })])

export const charges = tms.table("charges", {
  id: integer("id").primaryKey().generatedAlwaysAsIdentity(),
  shipment: integer("shipment").notNull().references(() => shipments.number),
  kind: text("kind", { enum: ["linehaul", "fuel", "liftgate", "detention"] }).notNull(),
  cents: integer("cents").notNull(),
  enteredAt: instant("entered_at").notNull()
}, (table) => [index("charges_of_shipment").on(table.shipment)])

/** Pickups that customers order through Waybill's interface. */
export const pickupOrders = tms.table("pickup_orders", {
  number: integer("number").primaryKey().generatedAlwaysAsIdentity({ startWith: 501 }),
  /** Equal when the same order is sent again. */
  requestId: text("request_id").notNull().unique(),
  company: text("company").notNull(),
  city: text("city").notNull(),
  state: text("state").notNull(),
  /** Local to the place. */
  readyAt: text("ready_at").notNull(),
  status: text("status", { enum: ["ordered", "sent", "cancelled"] }).notNull().default("ordered"),
  driverId: integer("driver_id").references(() => drivers.id)
})

export type Shipment = typeof shipments.$inferSelect
export type Stop = typeof stops.$inferSelect
export type Charge = typeof charges.$inferSelect
export type Customer = Omit<typeof customers.$inferSelect, "apiKeyId">
