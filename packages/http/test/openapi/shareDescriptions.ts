/** For the tests of other packages, which cannot import from here: a setup file of their projects in vitest.workspace.ts. */
import { WaybillHttp } from "../../src/index.ts"
import { descriptionOf } from "./ApiDescription.ts"
import { describedHandlers, describeServer } from "./described.ts"

const description = descriptionOf(JSON.stringify(WaybillHttp.openApi()))

globalThis.waybillOpenApi = {
  describedHandlers: (waybill) => describedHandlers(waybill, description),
  describeServer,
  faultOfNotification: (notification) => description.faultOfNotification(notification)
}
