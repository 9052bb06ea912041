/** What calls that write are answered. */
import type { Answer } from "../connection/Connection.ts"
import { WaybillCallFailed } from "../connection/WaybillProblem.ts"
import { isObject } from "../shared/ReceivedJson.ts"

export const messageOf = ({ call, json }: Answer): string => {
  if (isObject(json) && typeof json["message"] === "string") return json["message"]
  throw new WaybillCallFailed(call, "unreadable_answer", "the answer has no message.")
}

/** What may be wrong although it was taken. */
export const warningOf = ({ headers }: Answer): { readonly warning?: string } => {
  const warning = headers.get("x-waybill-warning") ?? ""
  return warning === "" ? {} : { warning }
}
