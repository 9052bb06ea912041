/** The session: the operator key of this tab, and the API client with it. */
import { OperatorClient } from "@waybill/client/operator"
import { connectionOf } from "./Server.ts"
import { tabSecret } from "./TabSecret.ts"

export const operatorKey = tabSecret("waybill.operator-key")

export const clientWith = (apiKey: string): OperatorClient => new OperatorClient({ ...connectionOf("../", "omit"), apiKey })
