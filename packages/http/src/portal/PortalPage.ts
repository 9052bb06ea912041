/** Address of the page that portal links open, for programs that serve one. Without it, links are tokens only. */
import { Context } from "effect"

export const PortalPage = Context.Reference<string | undefined>("@waybill/http/portal/PortalPage", { defaultValue: () => undefined })
