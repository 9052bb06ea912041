import type { Invoice } from "../invoices/model/Asked.ts"

export type Asked = Invoice
