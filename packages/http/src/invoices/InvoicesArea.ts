/** Area B over HTTP. */
import { Effect } from "effect"
import { httpArea } from "../shared/Area.ts"
import { mount } from "../shared/Contract.ts"
import { InvoicesContract } from "./InvoicesContract.ts"
import { InvoicesHandlers } from "./InvoicesHandlers.ts"

export const invoicesArea = httpArea({
  key: "invoices",
  base: "/invoicing",
  name: "Invoices",
  summary: "carriers' invoices, and the documents that support them",
  contract: InvoicesContract,
  mounted: (base: string) => Effect.map(InvoicesHandlers, (handlers) => mount(InvoicesContract, base, handlers))
})
