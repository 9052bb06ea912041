/** Responses of calls that write. */
import type { Answer } from "../connection/Connection.ts"
import { WaybillCallFailed } from "../connection/WaybillProblem.ts"
import { isObject } from "../shared/ReceivedJson.ts"

export const messageOf = ({ call, json }: Answer): string => {
  if (isObject(json) && typeof json["message"] === "string") return json["message"]
  throw new WaybillCallFailed(call, "unreadable_answer", "the answer has no message.")
}

/** The warning about a call that was accepted. */
export const warningOf = ({ headers }: Answer): { readonly warning?: string } => {
  const warning = headers.get("x-waybill-warning") ?? ""
  return warning === "" ? {} : { warning }
}
