import { OperatorClient } from "@waybill/client/operator"
import { useState } from "preact/hooks"

export const Page = () => {
  const [client] = useState(() => new OperatorClient())
  return <p>{typeof client}</p>
}
