/** Area B over HTTP. */
import { httpArea } from "../shared/Area.ts"
import { InvoicesContract } from "./InvoicesContract.ts"
import { InvoicesHandlers } from "./InvoicesHandlers.ts"

export const invoicesArea = httpArea({
  key: "invoices",
  base: "/invoicing",
  name: "Invoices",
  summary: "carriers' invoices, and the documents that support them",
  contract: InvoicesContract,
  handlers: InvoicesHandlers
})
